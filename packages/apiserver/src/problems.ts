/** What is wrong with a field, in Kubernetes' words. A refused object lists all of them. */
import type { StatusCause } from '@hutch/kube-meta';

export type Problem = Required<StatusCause>;

function shown(value: unknown): string {
  return value === undefined || value === null ? '"null"' : JSON.stringify(value);
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

export function required(field: string, detail = ''): Problem {
  return { field, reason: 'FieldValueRequired', message: withDetail('Required value', detail) };
}

export function invalidValue(field: string, value: unknown, detail: string): Problem {
  return {
    field,
    reason: 'FieldValueInvalid',
    message: withDetail(`Invalid value: ${shown(value)}`, detail),
  };
}

export function invalidType(field: string, given: string, detail: string): Problem {
  return { field, reason: 'FieldValueTypeInvalid', message: `Invalid value: "${given}": ${detail}` };
}

export function unsupportedValue(field: string, value: unknown, supported: readonly unknown[]): Problem {
  const texts = supported.map((one) => JSON.stringify(typeof one === 'string' ? one : JSON.stringify(one)));
  const message = `Unsupported value: ${shown(value)}: supported values: ${texts.join(', ')}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

export function forbiddenField(field: string, detail: string): Problem {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

export function duplicate(field: string, value: unknown): Problem {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${shown(value)}` };
}

export function tooLong(field: string, maxBytes: number): Problem {
  return {
    field,
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${maxBytes} bytes`,
  };
}

export function tooMany(field: string, count: number, max: number): Problem {
  return {
    field,
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${max} items`,
  };
}

export const immutable = 'field is immutable';
