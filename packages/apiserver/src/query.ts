/** Reading query parameters as Kubernetes reads them. */
import {
  type FieldSelector,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  statusFault,
} from '@hutch/kube-meta';
import type { ApiObject, Kind } from './kinds/kind.ts';
import { unexplained } from './refusals.ts';

/** Absent, `0` and any spelling of false are false; all else is true, a name without a value too. */
export function readBoolean(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && text !== '0' && text.toLowerCase() !== 'false';
}

export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const refuse = (why: string) =>
    statusFault('badRequest', `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw refuse('invalid syntax');
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, value) !== value) throw refuse('value out of range');
  return Number(value);
}

/** Undefined when the caller takes any state there is. */
export function readResourceVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    const quoted = JSON.stringify(text);
    // Not a bad request, although it is one: so it is answered everywhere but by lists.
    throw unexplained(
      500,
      `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
    );
  }
  return Number(text) || undefined;
}

export type Matcher = (object: ApiObject) => boolean;

/** The label and field selectors of a query as one question; undefined when everything is selected. */
export function readMatcher(query: URLSearchParams, kind: Kind): Matcher | undefined {
  const labels: LabelSelector = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields: FieldSelector = parseFieldSelector(query.get('fieldSelector') ?? '');
  const known = [
    'metadata.name',
    ...(kind.resource.namespaced || hasPlainSelectors(kind) ? ['metadata.namespace'] : []),
    ...kind.selectableFields,
  ];
  const unknown = fields.find(({ field }) => !known.includes(field));
  if (unknown) throw statusFault('badRequest', unknownFieldText(unknown.field, kind));
  if (labels.length === 0 && fields.length === 0) return undefined;
  return (object) => matchesLabels(labels, object.metadata.labels) && matchesFields(fields, object);
}

/** Kinds with no fields of their own to select by know the two of every object, also where one is never set. */
function hasPlainSelectors({ selectableFields, isCustom = false }: Kind): boolean {
  return !isCustom && selectableFields.length === 0;
}

function unknownFieldText(field: string, kind: Kind): string {
  if (!hasPlainSelectors(kind)) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
