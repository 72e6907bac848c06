/** What is wrong with a field, in Kubernetes' words. A refused object lists all of them. */
import type { StatusCause } from '@hutch/kube-meta';
import { goQuoted } from './go-types.ts';

export type Problem = Required<StatusCause>;

/** Objects are shown as Go writes them, which hides what could be taken for HTML; texts are shown as they are. */
function shown(value: unknown): string {
  if (typeof value === 'string') return goQuoted(value);
  const text = JSON.stringify(value ?? null);
  if (typeof value !== 'object') return text;
  return text.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
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

/** What a field names is not there. */
export function missingValue(field: string, value: unknown): Problem {
  return { field, reason: 'FieldValueNotFound', message: `Not found: ${shown(value)}` };
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
    message: `Too many: ${count}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  };
}

export const immutable = 'field is immutable';
