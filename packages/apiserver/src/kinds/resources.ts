/** Amounts of resources, as containers ask for them and claims and quotas state them. */
import { canonicalQuantity, compareQuantities, labelKeyProblems, quantityNanos } from '@hutch/kube-meta';
import { forbiddenField, invalidValue, type Problem, required } from '../problems.ts';
import { invalidBy } from './checks.ts';

type Amounts = Readonly<Record<string, string | number>>;

const containerResources = ['cpu', 'memory', 'ephemeral-storage'];
const otherResources = ['storage', 'pods', 'services', 'configmaps', 'secrets', 'persistentvolumeclaims'];

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** A whole part that another owner names, such as `example.com/gpu`. */
function isExtended(name: string): boolean {
  return name.includes('/') && !/(^|\.)kubernetes\.io\//.test(name) && !name.startsWith('requests.');
}

function nameProblems(name: string, path: string): Problem[] {
  const malformed = labelKeyProblems(name);
  if (malformed.length > 0) return invalidBy(path, name, malformed);
  if (name.includes('/')) {
    const isNative = /(^|\.)kubernetes\.io\//.test(name);
    const detail = "doesn't follow extended resource name standard";
    return isNative || isExtended(name) ? [] : [invalidValue(path, name, detail)];
  }
  if (containerResources.includes(name) || isHugePages(name)) return [];
  return [
    ...(otherResources.includes(name)
      ? []
      : [invalidValue(path, name, 'must be a standard resource type or fully qualified')]),
    invalidValue(path, name, 'must be a standard resource for containers'),
  ];
}

function amountProblems(name: string, amount: string, path: string): Problem[] {
  const nanos = quantityNanos(amount);
  return [
    ...(nanos < 0n ? [invalidValue(path, amount, 'must be greater than or equal to 0')] : []),
    ...(isExtended(name) && nanos % 1_000_000_000n !== 0n
      ? [invalidValue(path, amount, 'must be an integer')]
      : []),
  ];
}

/** Requests and limits of one container (or of a pod as a whole). */
export function requirementProblems(
  { limits = {}, requests = {} }: { limits?: object; requests?: object },
  path: string,
): Problem[] {
  const eachOf = (amounts: object, place: string) =>
    Object.entries(amounts as Amounts).flatMap(([name, amount]) => [
      ...nameProblems(name, `${place}[${name}]`),
      ...amountProblems(name, String(amount), `${place}[${name}]`),
      ...(place === `${path}.requests` ? limitProblems(name, String(amount), limits as Amounts, path) : []),
    ]);
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const isLonely = names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory');
  return [
    ...eachOf(limits, `${path}.limits`),
    ...eachOf(requests, `${path}.requests`),
    ...(isLonely ? [forbiddenField(path, 'HugePages require cpu or memory')] : []),
  ];
}

function limitProblems(name: string, amount: string, limits: Amounts, path: string): Problem[] {
  const isShared = !isExtended(name) && !isHugePages(name);
  const limit = limits[name];
  if (limit === undefined) {
    return isShared ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const order = compareQuantities(amount, limit);
  if (order === 0 || (isShared && order < 0)) return [];
  const relation = isShared ? 'less than or equal to' : 'equal to';
  const detail = `must be ${relation} ${name} limit of ${canonicalQuantity(String(limit))}`;
  return [invalidValue(`${path}.requests`, canonicalQuantity(amount), detail)];
}
