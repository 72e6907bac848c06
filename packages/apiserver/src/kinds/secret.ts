import { jsonEquals } from '@hutch/kube-meta';
import { isObject, omit } from '../json.ts';
import { forbiddenField, immutable, invalidValue, type Problem } from '../problems.ts';
import type { ApiObject } from './kind.ts';

interface SecretObject extends ApiObject {
  readonly type?: unknown;
  readonly data?: unknown;
  readonly stringData?: unknown;
  readonly immutable?: unknown;
}

/** `stringData` is only for writing: it is taken into `data`, over entries of the same name. */
export function normaliseSecret(object: ApiObject): ApiObject {
  const { stringData, ...secret } = object as SecretObject;
  const plain = isObject(stringData) ? Object.entries(stringData) : [];
  const encoded = plain.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
  const data = { ...(isObject(secret.data) ? secret.data : {}), ...Object.fromEntries(encoded) };
  const hasData = Object.keys(data).length > 0;
  return {
    ...omit(secret, 'data'),
    type: secret.type ?? 'Opaque',
    ...(hasData ? { data } : {}),
  } as ApiObject;
}

export function validateSecret(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const { data, type, immutable: isImmutable } = object as SecretObject;
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(isObject(data) ? data : {})) {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) {
      const detail =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
      problems.push(invalidValue(`data[${key}]`, key, detail));
    }
    if (typeof value !== 'string')
      problems.push(invalidValue(`data[${key}]`, '<secret>', 'must be base64 text'));
  }
  const before = old as SecretObject | undefined;
  if (before && before.type !== type) problems.push(invalidValue('type', type, immutable));
  if (before?.immutable === true) {
    const detail = 'field is immutable when `immutable` is set';
    if (isImmutable !== true) problems.push(forbiddenField('immutable', detail));
    if (!jsonEquals(before.data, data)) problems.push(forbiddenField('data', detail));
  }
  return problems;
}
