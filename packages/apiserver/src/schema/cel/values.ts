/** From an object's JSON to what a rule sees of it: integers are integers, times are times, names are identifiers. */
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { isObject, type JsonObject } from '../../json.ts';
import { envelope, type Schema } from '../schema.ts';

export function celValue(value: unknown, schema: Schema | undefined, isRoot = false): unknown {
  if (value === null || value === undefined) return null;
  if (!schema) return plainValue(value);
  if (schema['x-kubernetes-int-or-string'])
    return typeof value === 'number' ? BigInt(Math.trunc(value)) : value;
  if (typeof value === 'number') return schema.type === 'integer' ? BigInt(value) : value;
  if (typeof value === 'string') return textValue(value, schema.format);
  if (Array.isArray(value)) return listValue(value, schema);
  return isObject(value) ? objectValue(value, schema, isRoot) : value;
}

/** What no schema describes, as far as a rule can reach it. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(plainValue);
  if (isObject(value)) return new Map(Object.entries(value).map(([key, one]) => [key, plainValue(one)]));
  return value;
}

function textValue(text: string, format: string | undefined): unknown {
  switch (format) {
    case 'date-time':
    case 'date':
      return Number.isNaN(Date.parse(text)) ? text : new Date(text);
    case 'duration':
      return durationOf(text) ?? text;
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'));
    default:
      return text;
  }
}

const units: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

function durationOf(text: string): Duration | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)/g)];
  if (parts.length === 0) return undefined;
  const ms = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0), 0);
  const seconds = Math.trunc(ms / 1000);
  return new Duration(BigInt(text.startsWith('-') ? -seconds : seconds), Math.round((ms % 1000) * 1e6));
}

/** The order of a set of scalars has no meaning, not in a comparison either. */
function listValue(list: readonly unknown[], { items, 'x-kubernetes-list-type': type }: Schema): unknown {
  const values = list.map((item) => celValue(item, items));
  const isScalar = items?.type !== 'object' && items?.type !== 'array';
  return type === 'set' && isScalar ? new Set(values) : values;
}

function objectValue(object: JsonObject, schema: Schema, isRoot: boolean): unknown {
  const { properties = {}, additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    return new Map(
      Object.entries(object).map(([key, value]) => [key, celValue(value, additionalProperties)]),
    );
  }
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const members: [string, unknown][] = [];
  for (const key of Object.keys(object)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const value = object[key];
    if (isResource && envelope.has(key)) members.push([key, key === 'metadata' ? namesOf(value) : value]);
    else if (known && value !== undefined && (value !== null || known.nullable)) {
      members.push([identifierOf(key), celValue(value, known)]);
    }
  }
  return new Map(members);
}

/** All a rule may know of an object's metadata. */
function namesOf(metadata: unknown): Map<string, unknown> {
  const { name, generateName } = isObject(metadata) ? metadata : {};
  const given = Object.entries({ name, generateName }).filter(([, value]) => value !== undefined);
  return new Map(given);
}

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** How a property is called in a rule, when its own name could not stand there. */
export function identifierOf(property: string): string {
  if (reserved.has(property)) return `__${property}__`;
  if (/^\w+$/.test(property) && !property.includes('__')) return property;
  return property
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
