/** ConfigMaps and Secrets: named pieces of data, which can be sealed. */
import { jsonEquals } from '@hutch/kube-meta';
import { isObject } from '../json.ts';
import { forbiddenField, invalidValue, type Problem, required, tooLong } from '../problems.ts';
import { dataKeyProblems, unchanged } from './checks.ts';
import type { ApiObject } from './kind.ts';

const maxBytes = 1024 * 1024;

type Data = Readonly<Record<string, string>>;

interface DataObject extends ApiObject {
  readonly data?: Data;
  readonly binaryData?: Data;
  readonly immutable?: boolean;
}

interface SecretObject extends DataObject {
  readonly type?: string;
  readonly stringData?: Data;
}

/** `stringData` is only for writing: it is taken into `data`, over entries of the same name. */
export function defaultSecret(object: ApiObject): ApiObject {
  const { stringData, ...secret } = object as SecretObject;
  if (!stringData) return object;
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  const data = { ...secret.data, ...(Object.fromEntries(encoded) as object) };
  return Object.keys(data).length === 0 ? secret : ({ ...secret, data } as ApiObject);
}

export function validateConfigMap(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const { data = {}, binaryData = {} } = object as DataObject;
  const bytes = plainBytes(data) + decodedBytes(binaryData);
  return [
    ...(old ? sealProblems(object, old, ['data', 'binaryData']) : []),
    ...keyProblems(data, 'data'),
    ...Object.keys(data)
      .filter((key) => Object.hasOwn(binaryData, key))
      .map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...keyProblems(binaryData, 'binaryData'),
    ...(bytes > maxBytes ? [tooLong('[]', maxBytes)] : []),
  ];
}

export function validateSecret(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const secret = object as SecretObject;
  const { data = {} } = secret;
  return [
    ...(old
      ? [
          ...unchanged('type', secret.type, (old as SecretObject).type),
          ...sealProblems(object, old, ['data']),
        ]
      : []),
    ...keyProblems(data, 'data'),
    ...(decodedBytes(data) > maxBytes ? [tooLong('data', maxBytes)] : []),
    ...typeProblems(secret, data),
  ];
}

function keyProblems(data: Data, path: string): Problem[] {
  return Object.keys(data).flatMap((key) =>
    dataKeyProblems(key).map((detail) => invalidValue(`${path}[${key}]`, key, detail)),
  );
}

function plainBytes(data: Data): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function decodedBytes(data: Data): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}

/** What is sealed can be labelled and deleted, but not changed, and not unsealed. */
function sealProblems(
  object: ApiObject,
  old: ApiObject,
  fields: readonly ('data' | 'binaryData')[],
): Problem[] {
  const [after, before] = [object as DataObject, old as DataObject];
  if (!before.immutable) return [];
  const detail = 'field is immutable when `immutable` is set';
  return [
    ...(after.immutable ? [] : [forbiddenField('immutable', detail)]),
    ...fields
      .filter((field) => !jsonEquals(after[field] ?? {}, before[field] ?? {}))
      .map((field) => forbiddenField(field, detail)),
  ];
}

const needed: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function typeProblems({ type = '', metadata }: SecretObject, data: Data): Problem[] {
  switch (type) {
    case 'kubernetes.io/service-account-token': {
      const annotation = 'kubernetes.io/service-account.name';
      return metadata.annotations?.[annotation] ? [] : [required(`metadata.annotations[${annotation}]`)];
    }
    case 'kubernetes.io/basic-auth':
      if (Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')) return [];
      return [required('data[username]'), required('data[password]')];
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    case 'kubernetes.io/dockercfg':
    case 'kubernetes.io/dockerconfigjson':
    case 'kubernetes.io/tls':
      return (needed[type] ?? []).flatMap((key) =>
        Object.hasOwn(data, key)
          ? type === 'kubernetes.io/tls'
            ? []
            : jsonProblems(data[key] ?? '', key)
          : [required(`data[${key}]`)],
      );
    default:
      return [];
  }
}

function jsonProblems(encoded: string, key: string): Problem[] {
  const refuse = (why: string) => [invalidValue(`data[${key}]`, '<secret contents redacted>', why)];
  const text = Buffer.from(encoded, 'base64').toString();
  if (text === '') return refuse('unexpected end of JSON input');
  try {
    return isObject(JSON.parse(text))
      ? []
      : refuse('json: cannot unmarshal value into Go value of type map[string]interface {}');
  } catch {
    return refuse(`invalid character '${text.trim()[0] ?? ''}' looking for beginning of value`);
  }
}
