/** What may be said of a container's environment. */

import type { Container } from '@hutch/kube-meta';
import { dnsSubdomainProblems, labelKeyProblems } from '@hutch/kube-meta';
import { invalidValue, type Problem, required, unsupportedValue } from '../../problems.ts';
import { dataKeyProblems, eachOf, invalidBy } from '../checks.ts';

type Variable = NonNullable<Container['env']>[number];
type Source = NonNullable<Variable['valueFrom']>;
type Bulk = NonNullable<Container['envFrom']>[number];

const variableRule =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

const podFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.host',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.phase',
  'status.podIP',
  'status.podIPs',
];
const variableFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
export const fileFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

export function envProblems(list: Container['env'], path: string): Problem[] {
  return eachOf(list, path, (variable, at) => [
    ...(variable.name === '' ? [required(`${at}.name`)] : variableName(`${at}.name`, variable.name)),
    ...sourceProblems(variable, `${at}.valueFrom`),
  ]);
}

function variableName(path: string, name: string): Problem[] {
  return /^[ -<>-~]*$/.test(name) ? [] : [invalidValue(path, name, variableRule)];
}

function sourceProblems({ value = '', valueFrom }: Variable, path: string): Problem[] {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  const count = Object.values(valueFrom).filter((source) => source !== undefined).length;
  const problems = [
    ...(fieldRef ? fieldProblems(fieldRef, variableFields, `${path}.fieldRef`) : []),
    ...(resourceFieldRef ? resourceProblems(resourceFieldRef, `${path}.resourceFieldRef`, false) : []),
    ...(configMapKeyRef ? keyProblems(configMapKeyRef, `${path}.configMapKeyRef`) : []),
    ...(secretKeyRef ? keyProblems(secretKeyRef, `${path}.secretKeyRef`) : []),
  ];
  const detail =
    count === 0
      ? 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
      : value !== ''
        ? 'may not be specified when `value` is not empty'
        : count > 1
          ? 'may not have more than one field specified at a time'
          : undefined;
  return detail === undefined ? problems : [...problems, invalidValue(path, '', detail)];
}

export function fieldProblems(
  { apiVersion = '', fieldPath }: NonNullable<Source['fieldRef']>,
  supported: readonly string[],
  path: string,
): Problem[] {
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  if (fieldPath === '') return [required(`${path}.fieldPath`)];
  const subscripted = /^([^[]*)\['(.*)'\]$/.exec(fieldPath);
  const base = subscripted?.[1] ?? fieldPath;
  const known = [...podFields, 'metadata.annotations', 'metadata.labels'];
  if (apiVersion !== 'v1' || !known.includes(base)) {
    const why =
      apiVersion === 'v1'
        ? `field label not supported: ${fieldPath}`
        : `unsupported pod version: ${apiVersion}`;
    return [invalidValue(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`)];
  }
  if (!subscripted) {
    return supported.includes(base) ? [] : [unsupportedValue(`${path}.fieldPath`, base, supported)];
  }
  const key = subscripted[2] ?? '';
  if (base === 'metadata.annotations')
    return invalidBy(path, key.toLowerCase(), labelKeyProblems(key.toLowerCase()));
  if (base === 'metadata.labels') return invalidBy(path, key, labelKeyProblems(key));
  return [invalidValue(path, base, 'does not support subscript')];
}

export function resourceProblems(
  { containerName = '', resource }: NonNullable<Source['resourceFieldRef']>,
  path: string,
  isFile: boolean,
): Problem[] {
  if (isFile && containerName === '') return [required(`${path}.containerName`)];
  if (resource === '') return [required(`${path}.resource`)];
  const isHuge = /^(limits|requests)\.hugepages-/.test(resource);
  return resources.includes(resource) || isHuge
    ? []
    : [unsupportedValue(`${path}.resource`, resource, resources)];
}

function keyProblems(
  { name = '', key }: { name?: string | undefined; key: string },
  path: string,
): Problem[] {
  return [
    ...invalidBy(`${path}.name`, name, dnsSubdomainProblems(name)),
    ...(key === '' ? [required(`${path}.key`)] : invalidBy(`${path}.key`, key, dataKeyProblems(key))),
  ];
}

export function envFromProblems(list: Container['envFrom'], path: string): Problem[] {
  return eachOf(list, path, (source: Bulk, at) => {
    const { prefix = '', configMapRef, secretRef } = source;
    const named = (name: string | undefined, place: string) =>
      name === undefined || name === ''
        ? [required(place)]
        : invalidBy(place, name, dnsSubdomainProblems(name));
    const count = (configMapRef ? 1 : 0) + (secretRef ? 1 : 0);
    return [
      ...(prefix === '' ? [] : variableName(`${at}.prefix`, prefix)),
      ...(configMapRef ? named(configMapRef.name, `${at}.configMapRef.name`) : []),
      ...(secretRef ? named(secretRef.name, `${at}.secretRef.name`) : []),
      ...(count === 0 ? [invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
      ...(count > 1 ? [invalidValue(path, '', 'may not have more than one field specified at a time')] : []),
    ];
  });
}
