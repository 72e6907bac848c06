/**
 * Checks a value against a structural schema and lists everything that is wrong, in Kubernetes' words and order.
 *
 * A part that has not changed since the old value was stored is not looked at again: a schema that became stricter
 * does not make objects that are there unwritable.
 */
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
import { matches } from './re2.ts';
import { memberSchema, type Schema } from './schema.ts';

export function validate(value: unknown, schema: Schema, path = '', old?: unknown): Problem[] {
  if (old !== undefined && jsonEquals(value, old)) return [];
  if (value === null && schema.nullable) return [];
  const wrongType = typeProblems(value, schema, path);
  return [
    ...wrongType,
    ...combinationProblems(value, schema, path),
    ...(typeof value === 'string' && wrongType.length === 0 ? textProblems(value, schema, path) : []),
    ...(typeof value === 'number' ? numberProblems(value, schema, path) : []),
    ...(Array.isArray(value) ? arrayProblems(value, schema, { path, old }) : []),
    ...enumProblems(value, schema, path),
    ...(isObject(value) && wrongType.length === 0 ? objectProblems(value, schema, { path, old }) : []),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typeProblems(value: unknown, schema: Schema, path: string): Problem[] {
  const given = typeOf(value);
  const refuse = (wanted: string, shown = given) => [
    invalidType(path, shown, `${path} in body must be of type ${wanted}: "${shown}"`),
  ];
  if (schema['x-kubernetes-int-or-string']) {
    return given === 'integer' || given === 'string' ? [] : refuse('integer,string');
  }
  const wanted = schema.type;
  if (wanted === undefined || wanted === '' || wanted === given) return [];
  if (wanted === 'number' && given === 'integer') return [];
  // A number that must be whole is named after the format it was to have.
  const isFraction = wanted === 'integer' && given === 'number';
  return isFraction && schema.format ? refuse(schema.format, 'float64') : refuse(wanted);
}

/** What the schema as a whole says has no field of its own. */
function nowhere(detail: string): Problem {
  return invalidValue('<nil>', '', detail);
}

function enumProblems(value: unknown, schema: Schema, path: string): Problem[] {
  if (!schema.enum || schema.enum.some((allowed) => jsonEquals(allowed, value))) return [];
  return [unsupportedValue(path, value, schema.enum)];
}

/** The first thing that is wrong with a text; its format is told besides. */
function textProblems(text: string, schema: Schema, path: string): Problem[] {
  const first = lengthProblem(text, schema, path) ?? patternProblem(text, schema, path);
  const format = schema.format === undefined ? undefined : textFormats.get(schema.format);
  if (!format || format(text)) return first ? [first] : [];
  const shown = JSON.stringify(text);
  const wrong: Problem = {
    field: path,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${shown}: ${path} in body must be of type ${schema.format}: ${shown}`,
  };
  return first ? [first, wrong] : [wrong];
}

function lengthProblem(
  text: string,
  { maxLength, minLength = 0 }: Schema,
  path: string,
): Problem | undefined {
  // Lengths count characters, not UTF-16 halves of them.
  const length = () => [...text].length;
  if (maxLength !== undefined && text.length > maxLength && length() > maxLength)
    return tooLong(path, maxLength);
  if (text.length >= 2 * minLength || length() >= minLength) return undefined;
  return invalidValue(path, text, `${path} in body should be at least ${minLength} chars long`);
}

function patternProblem(text: string, { pattern }: Schema, path: string): Problem | undefined {
  if (pattern === undefined || pattern === '' || matches(pattern, text)) return undefined;
  return invalidValue(path, text, `${path} in body should match '${pattern}'`);
}

function numberProblems(value: number, schema: Schema, path: string): Problem[] {
  const { minimum, maximum, multipleOf, format } = schema;
  const problems: string[] = [];
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    problems.push(`should be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum && value >= maximum) problems.push(`should be less than ${maximum}`);
    else if (value > maximum) problems.push(`should be less than or equal to ${maximum}`);
  }
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum && value <= minimum) problems.push(`should be greater than ${minimum}`);
    else if (value < minimum) problems.push(`should be greater than or equal to ${minimum}`);
  }
  const fits = fitsNumberFormat(value, format) && (schema.type !== 'integer' || Number.isInteger(value));
  return [
    ...problems.map((problem) => invalidValue(path, value, `${path} in body ${problem}`)),
    ...(fits
      ? []
      : [nowhere(`Checked value must be of type ${schema.type} ${formatText(format)} in ${path}`)]),
  ];
}

function formatText(format: string | undefined): string {
  return format === undefined ? '(default format)' : `with format ${format}`;
}

interface Place {
  readonly path: string;
  readonly old: unknown;
}

function arrayProblems(items: readonly unknown[], schema: Schema, { path, old }: Place): Problem[] {
  const { items: itemSchema, maxItems, minItems } = schema;
  const oldItem = correlated(schema, old);
  return [
    ...(maxItems !== undefined && items.length > maxItems ? [tooMany(path, items.length, maxItems)] : []),
    ...(minItems !== undefined && items.length < minItems
      ? [invalidValue(path, items.length, `${path} in body should have at least ${minItems} items`)]
      : []),
    ...(itemSchema
      ? items.flatMap((item, at) => validate(item, itemSchema, `${path}[${at}]`, oldItem(item)))
      : []),
  ];
}

/** Which item of an old list an item of the new one has come from: only a list with keys can tell. */
export function correlated(schema: Schema, old: unknown): (item: unknown) => unknown {
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  if (type !== 'map' || !Array.isArray(old)) return () => undefined;
  const byKeys = new Map(old.filter(isObject).map((item) => [keysText(item, keys), item]));
  return (item) => (isObject(item) ? byKeys.get(keysText(item, keys)) : undefined);
}

export function keysText(item: JsonObject, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => item[key] ?? null));
}

function objectProblems(object: JsonObject, schema: Schema, { path, old }: Place): Problem[] {
  const keys = Object.keys(object);
  const { maxProperties, minProperties } = schema;
  const before = isObject(old) ? old : {};
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const names = [...(isResource ? ['apiVersion', 'kind'] : []), ...(schema.required ?? [])];
  return [
    ...(maxProperties !== undefined && keys.length > maxProperties
      ? [tooMany(path, keys.length, maxProperties)]
      : []),
    ...(minProperties !== undefined && keys.length < minProperties
      ? [invalidValue(path, keys.length, `${path} in body should have at least ${minProperties} properties`)]
      : []),
    ...[...new Set(names)]
      .filter((key) => !Object.hasOwn(object, key) || object[key] === undefined)
      .map((key) => required(joined(path, key))),
    ...keys.flatMap((key) => {
      const known = memberSchema(schema, key);
      if (!known || object[key] === undefined) return [];
      return validate(
        object[key],
        known,
        joined(path, key),
        Object.hasOwn(before, key) ? before[key] : undefined,
      );
    }),
  ];
}

function combinationProblems(value: unknown, schema: Schema, path: string): Problem[] {
  const { anyOf, oneOf, allOf = [], not } = schema;
  const isPlainIntOrString = schema['x-kubernetes-int-or-string'] === true && anyOf?.length === 2;
  return [
    ...(anyOf && !isPlainIntOrString ? anyOfProblems(value, anyOf, path) : []),
    ...(oneOf ? oneOfProblems(value, oneOf, path) : []),
    ...allOfProblems(value, allOf, path),
    ...(not && validate(value, not, path).length === 0
      ? [nowhere(`"${path}" must not validate the schema (not)`)]
      : []),
  ];
}

function allOfProblems(value: unknown, parts: readonly Schema[], path: string): Problem[] {
  const problems = parts.flatMap((part) => validate(value, part, path));
  if (problems.length === 0) return [];
  return [nowhere(`"${path}" must validate all the schemas (allOf)`), ...problems];
}

function anyOfProblems(value: unknown, parts: readonly Schema[], path: string): Problem[] {
  const results = parts.map((part) => validate(value, part, path));
  if (results.some((problems) => problems.length === 0)) return [];
  return [nowhere(`"${path}" must validate at least one schema (anyOf)`), ...(fewest(results) ?? [])];
}

function oneOfProblems(value: unknown, parts: readonly Schema[], path: string): Problem[] {
  const results = parts.map((part) => validate(value, part, path));
  const valid = results.filter((problems) => problems.length === 0).length;
  if (valid === 1) return [];
  const found = valid === 0 ? 'none valid' : `${valid} valid alternatives`;
  const problem = nowhere(`"${path}" must validate one and only one schema (oneOf). Found ${found}`);
  return valid === 0 ? [problem, ...(fewest(results) ?? [])] : [problem];
}

/** What is told of alternatives that all failed: why the nearest one did. */
function fewest(results: readonly Problem[][]): Problem[] | undefined {
  return results.reduce<Problem[] | undefined>(
    (best, problems) => (best === undefined || problems.length < best.length ? problems : best),
    undefined,
  );
}

export function joined(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
