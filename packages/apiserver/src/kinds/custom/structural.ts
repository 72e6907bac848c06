/**
 * What makes a schema structural: the type of every value is said once and in the open, so that it can be pruned and
 * defaulted without trying alternatives. Alternatives may only narrow what is there.
 */
import { forbiddenField, invalidValue, type Problem, required } from '../../problems.ts';
import { regExpOf } from '../../schema/re2.ts';
import type { Schema } from '../../schema/schema.ts';

type Level = 'root' | 'item' | 'field';

export function structuralProblems(schema: Schema, path: string): Problem[] {
  const problems = [
    ...invariants(schema, 'root', path),
    ...incomplete(schema, schema, { own: path, other: path }),
  ];
  const text = ({ field, message }: Problem) => `${field}: ${message}`;
  return problems.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function invariants(schema: Schema, level: Level, path: string): Problem[] {
  const { type = '', items, properties = {}, additionalProperties } = schema;
  const nested = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return [
    ...(type === 'array' && !items ? [required(`${path}.items`, 'must be specified')] : []),
    ...(items ? invariants(items, 'item', `${path}.items`) : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      invariants(property, 'field', `${path}.properties[${name}]`),
    ),
    ...(additionalProperties !== undefined && level === 'root'
      ? [forbiddenField(`${path}.additionalProperties`, 'must not be used at the root')]
      : []),
    ...(nested ? invariants(nested, 'field', `${path}.additionalProperties`) : []),
    ...extensionProblems(schema, path),
    ...narrowingProblems(schema, path, isIntOrStringPattern(schema)),
    ...typeProblems(schema, level, path),
    ...metadataProblems(schema, level, path),
  ];
}

function extensionProblems(schema: Schema, path: string): Problem[] {
  const isMixed = schema['x-kubernetes-int-or-string'] === true;
  const detail = 'must be false if x-kubernetes-int-or-string is true';
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((name) => isMixed && schema[name] === true)
    .map((name) => invalidValue(`${path}.${name}`, true, detail));
}

function typeProblems(schema: Schema, level: Level, path: string): Problem[] {
  const { type = '', properties = {}, additionalProperties } = schema;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const problems: Problem[] = [];
  if (isResource && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    problems.push(
      type === '' ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail),
    );
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !preserves) {
    problems.push(required(`${path}.type`, emptyType[level]));
  }
  if (isResource && additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    problems.push(forbiddenField(`${path}.additionalProperties`, detail));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    problems.push(invalidValue(`${path}.type`, type, 'must be object at the root'));
  }
  if (isResource && !preserves && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    problems.push(required(`${path}.properties`, detail));
  }
  return problems;
}

/** Of what every object has, a schema can say nothing but the form of its name. */
function metadataProblems(schema: Schema, level: Level, path: string): Problem[] {
  const { properties = {} } = schema;
  const { kind, apiVersion, metadata } = properties;
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const problems: Problem[] = [];
  for (const [name, property] of Object.entries({ kind, apiVersion })) {
    if (!property || !isResource || property.type === 'string') continue;
    problems.push(invalidValue(`${path}.properties[${name}].type`, property.type ?? '', 'must be string'));
  }
  if (!metadata || !isResource) return problems;
  if (metadata.type !== 'object') {
    problems.push(invalidValue(`${path}.properties[metadata].type`, metadata.type ?? '', 'must be object'));
  }
  if (level !== 'root') return problems;
  const { type: _type, default: _default, properties: members = {}, ...rest } = metadata;
  const namesOnly = Object.keys(members).every((name) => name === 'name' || name === 'generateName');
  if (!namesOnly || Object.keys(rest).length > 0) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    problems.push(forbiddenField(`${path}.properties[metadata]`, detail));
  }
  return problems;
}

// ---- alternatives ---------------------------------------------------------------------------------------

/** `anyOf: [{type: integer}, {type: string}]`: how a value that may be either was written before it had a word. */
function isIntOrStringPattern({ anyOf = [] }: Schema): boolean {
  return anyOf.length === 2 && JSON.stringify(anyOf) === '[{"type":"integer"},{"type":"string"}]';
}

function narrowingProblems(schema: Schema, path: string, skipsAnyOf: boolean): Problem[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  return [
    ...(skipsAnyOf ? [] : anyOf.flatMap((part, at) => nestedProblems(part, `${path}.anyOf[${at}]`, false))),
    ...allOf.flatMap((part, at) =>
      nestedProblems(part, `${path}.allOf[${at}]`, at === 0 && isIntOrStringPattern(part)),
    ),
    ...oneOf.flatMap((part, at) => nestedProblems(part, `${path}.oneOf[${at}]`, false)),
    ...(not ? nestedProblems(not, `${path}.not`, false) : []),
    ...(pattern ? patternProblems(pattern, `${path}.pattern`) : []),
  ];
}

function patternProblems(pattern: string, path: string): Problem[] {
  try {
    regExpOf(pattern);
    return [];
  } catch (err) {
    const why = goWords((err as Error).message, pattern);
    return [invalidValue(path, pattern, `must be a valid regular expression, but isn't: ${why}`)];
  }
}

/** What is wrong with a pattern, as Go's own parser tells it. */
function goWords(message: string, pattern: string): string {
  const known: readonly (readonly [RegExp, string])[] = [
    [/Unterminated group/, 'missing closing )'],
    [/Unmatched '\)'/, 'unexpected )'],
    [/Unterminated character class/, 'missing closing ]'],
    [/Nothing to repeat/, 'missing argument to repetition operator'],
    [/Range out of order/, 'invalid character class range'],
    [/Invalid escape|\\ at end/, 'invalid escape sequence'],
  ];
  const words = known.find(([form]) => form.test(message))?.[1] ?? message;
  return `error parsing regexp: ${words}: \`${pattern}\``;
}

const forbidden: readonly (readonly [keyof Schema & string, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title' as keyof Schema & string, 'must be empty to be structural'],
  ['description' as keyof Schema & string, 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

/** What stands inside an alternative may check values, but not say what they are. */
function nestedProblems(schema: Schema, path: string, skipsAnyOf: boolean): Problem[] {
  const { items, properties = {} } = schema;
  return [
    ...narrowingProblems(schema, path, skipsAnyOf),
    ...(items ? nestedProblems(items, `${path}.items`, false) : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      nestedProblems(property, `${path}.properties[${name}]`, false),
    ),
    ...forbidden
      .filter(([name]) => schema[name] !== undefined)
      .map(([name, detail]) => forbiddenField(`${path}.${name}`, detail)),
    ...(Object.hasOwn(properties, 'metadata')
      ? [forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context')]
      : []),
  ];
}

interface Paths {
  /** Of the schema that says what values are. */
  readonly own: string;
  /** Of the one that narrows them. */
  readonly other: string;
}

/** Everything an alternative speaks of is also there outside of alternatives. */
function incomplete(narrowing: Schema, schema: Schema, { own, other }: Paths): Problem[] {
  const { not, allOf = [], anyOf = [], oneOf = [] } = narrowing;
  const nested = (part: Schema, name: string) =>
    incompleteNested(part, schema, { own, other: `${other}.${name}` });
  return [
    ...(not ? nested(not, 'not') : []),
    ...allOf.flatMap((part, at) => nested(part, `allOf[${at}]`)),
    ...anyOf.flatMap((part, at) => nested(part, `anyOf[${at}]`)),
    ...oneOf.flatMap((part, at) => nested(part, `oneOf[${at}]`)),
  ];
}

function incompleteNested(narrowing: Schema, schema: Schema, { own, other }: Paths): Problem[] {
  const { items, properties = {} } = narrowing;
  const missing = (path: string, definedIn: string) =>
    required(path, `because it is defined in ${definedIn}`);
  const inItems = (part: Schema): Problem[] => {
    const paths = { own: `${own}.items`, other: `${other}.items` };
    return schema.items ? incompleteNested(part, schema.items, paths) : [missing(paths.own, paths.other)];
  };
  return [
    ...incomplete(narrowing, schema, { own, other }),
    ...(items ? inItems(items) : []),
    ...Object.entries(properties).flatMap(([name, part]) => {
      const known = schema.properties?.[name];
      const paths = { own: `${own}.properties[${name}]`, other: `${other}.properties[${name}]` };
      return known ? incompleteNested(part, known, paths) : [missing(paths.own, paths.other)];
    }),
  ];
}
