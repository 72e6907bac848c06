/** Checks a value against a structural schema and lists everything that is wrong, in Kubernetes' words. */
import { jsonEquals } from '@hutch/kube-meta';
import { isObject, type JsonObject } from '../json.ts';
import {
  invalidType,
  invalidValue,
  type Problem,
  required,
  tooLong,
  tooMany,
  unsupportedValue,
} from '../problems.ts';
import { fitsNumberFormat, textFormats } from './formats.ts';
import { memberSchema, type Schema } from './schema.ts';

export function validate(value: unknown, schema: Schema, path = ''): Problem[] {
  if (value === null && schema.nullable) return [];
  const wrongType = typeProblem(value, schema, path);
  if (wrongType) return [wrongType]; // nothing more can be said of it
  return [
    ...enumProblems(value, schema, path),
    ...(typeof value === 'string' ? textProblems(value, schema, path) : []),
    ...(typeof value === 'number' ? numberProblems(value, schema, path) : []),
    ...(Array.isArray(value) ? arrayProblems(value, schema, path) : []),
    ...(isObject(value) ? objectProblems(value, schema, path) : []),
    ...combinationProblems(value, schema, path),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typeProblem(value: unknown, schema: Schema, path: string): Problem | undefined {
  const given = typeOf(value);
  if (schema['x-kubernetes-int-or-string']) {
    if (given === 'integer' || given === 'string') return undefined;
    return invalidType(path, given, `${path} in body must be of type integer,string: "${given}"`);
  }
  const wanted = schema.type;
  if (wanted === undefined || wanted === '' || wanted === given) return undefined;
  if (wanted === 'number' && given === 'integer') return undefined;
  return invalidType(path, given, `${path} in body must be of type ${wanted}: "${given}"`);
}

function enumProblems(value: unknown, schema: Schema, path: string): Problem[] {
  if (!schema.enum || schema.enum.some((allowed) => jsonEquals(allowed, value))) return [];
  return [unsupportedValue(path, value, schema.enum)];
}

function textProblems(text: string, schema: Schema, path: string): Problem[] {
  const problems: Problem[] = [];
  // Lengths count characters, not UTF-16 halves of them.
  const length = () => [...text].length;
  if (schema.maxLength !== undefined && text.length > schema.maxLength && length() > schema.maxLength) {
    problems.push(tooLong(path, schema.maxLength));
  }
  if (schema.minLength !== undefined && length() < schema.minLength) {
    problems.push(
      invalidValue(path, text, `${path} in body should be at least ${schema.minLength} chars long`),
    );
  }
  if (schema.pattern !== undefined && !patternOf(schema, schema.pattern).test(text)) {
    problems.push(invalidValue(path, text, `${path} in body should match '${schema.pattern}'`));
  }
  const format = schema.format === undefined ? undefined : textFormats.get(schema.format);
  if (format && !format(text)) {
    const detail = `${path} in body must be of type ${schema.format}: ${JSON.stringify(text)}`;
    problems.push(invalidValue(path, text, detail));
  }
  return problems;
}

const patterns = new WeakMap<Schema, RegExp>();

function patternOf(schema: Schema, pattern: string): RegExp {
  const known = patterns.get(schema);
  if (known) return known;
  const made = new RegExp(pattern, 'u');
  patterns.set(schema, made);
  return made;
}

function numberProblems(value: number, schema: Schema, path: string): Problem[] {
  const { minimum, maximum, multipleOf, format } = schema;
  const problems: string[] = [];
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum && value <= minimum) problems.push(`should be greater than ${minimum}`);
    else if (value < minimum) problems.push(`should be greater than or equal to ${minimum}`);
  }
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum && value >= maximum) problems.push(`should be less than ${maximum}`);
    else if (value > maximum) problems.push(`should be less than or equal to ${maximum}`);
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    problems.push(`should be a multiple of ${multipleOf}`);
  }
  if (!fitsNumberFormat(value, format)) problems.push(`must be of type ${format}: "${value}"`);
  return problems.map((problem) => invalidValue(path, value, `${path} in body ${problem}`));
}

function arrayProblems(items: readonly unknown[], schema: Schema, path: string): Problem[] {
  const problems: Problem[] = [];
  if (schema.maxItems !== undefined && items.length > schema.maxItems) {
    problems.push(tooMany(path, items.length, schema.maxItems));
  }
  if (schema.minItems !== undefined && items.length < schema.minItems) {
    problems.push(
      invalidValue(path, items.length, `${path} in body should have at least ${schema.minItems} items`),
    );
  }
  const { items: itemSchema } = schema;
  if (itemSchema)
    items.forEach((item, at) => void problems.push(...validate(item, itemSchema, `${path}[${at}]`)));
  return problems;
}

function objectProblems(object: JsonObject, schema: Schema, path: string): Problem[] {
  const problems: Problem[] = [];
  const keys = Object.keys(object);
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties) {
    const detail = `${path} in body should have at most ${schema.maxProperties} properties`;
    problems.push(invalidValue(path, keys.length, detail));
  }
  if (schema.minProperties !== undefined && keys.length < schema.minProperties) {
    const detail = `${path} in body should have at least ${schema.minProperties} properties`;
    problems.push(invalidValue(path, keys.length, detail));
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(object, key) || object[key] === undefined) problems.push(required(join(path, key)));
  }
  for (const key of keys) {
    const known = memberSchema(schema, key);
    if (known && object[key] !== undefined) problems.push(...validate(object[key], known, join(path, key)));
  }
  return problems;
}

function combinationProblems(value: unknown, schema: Schema, path: string): Problem[] {
  const holds = (part: Schema) => validate(value, part, path).length === 0;
  const problems = (schema.allOf ?? []).flatMap((part) => validate(value, part, path));
  if (schema.anyOf && !schema['x-kubernetes-int-or-string'] && !schema.anyOf.some(holds)) {
    problems.push(invalidValue(path, value, `"${path}" must validate at least one schema (anyOf)`));
  }
  if (schema.oneOf) {
    const matching = schema.oneOf.filter(holds).length;
    const found = matching === 0 ? 'none valid' : `${matching} valid alternatives`;
    const detail = `"${path}" must validate one and only one schema (oneOf). Found ${found}`;
    if (matching !== 1) problems.push(invalidValue(path, value, detail));
  }
  if (schema.not && holds(schema.not)) {
    problems.push(invalidValue(path, value, `"${path}" must not validate the schema (not)`));
  }
  return problems;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
