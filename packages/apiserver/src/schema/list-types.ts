/** Lists that are sets, or maps by some of their items' members: no item may be there twice. */
import { isObject, omit } from '../json.ts';
import { duplicate, invalidValue, type Problem } from '../problems.ts';
import { memberSchema, type Schema } from './schema.ts';
import { joined, keysText } from './validate.ts';

export function repeatedItems(value: unknown, schema: Schema, path = ''): Problem[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return [
      ...repetitions(value, schema, path),
      ...(items ? value.flatMap((item, at) => repeatedItems(item, items, `${path}[${at}]`)) : []),
    ];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const known = memberSchema(schema, key);
    return known ? repeatedItems(member, known, joined(path, key)) : [];
  });
}

function repetitions(items: readonly unknown[], schema: Schema, path: string): Problem[] {
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  if (type !== 'set' && type !== 'map') return [];
  const seen = new Set<string>();
  return items.flatMap((item, at) => {
    const text = type === 'map' && isObject(item) ? keysText(item, keys) : canonicalText(item);
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    const shown =
      type === 'map' && isObject(item) ? Object.fromEntries(keys.map((key) => [key, item[key]])) : item;
    return [duplicate(`${path}[${at}]`, shown)];
  });
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}

function versionProblems(apiVersion: unknown, path: string): Problem[] {
  if (typeof apiVersion !== 'string' || apiVersion.split('/').length <= 2) return [];
  return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

/** An object inside an object says what it is, as any other does. */
export function embeddedProblems(value: unknown, schema: Schema, path = ''): Problem[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, at) => embeddedProblems(item, items, `${path}[${at}]`)) : [];
  }
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource']
    ? (['apiVersion', 'kind'] as const)
        .filter((key) => value[key] === '')
        .map((key) => invalidValue(joined(path, key), '', 'must not be empty'))
        .concat(versionProblems(value.apiVersion, joined(path, 'apiVersion')))
    : [];
  const inside = schema['x-kubernetes-embedded-resource'] ? omit(value, 'metadata') : value;
  return [
    ...own,
    ...Object.entries(inside).flatMap(([key, member]) => {
      const known = memberSchema(schema, key);
      return known ? embeddedProblems(member, known, joined(path, key)) : [];
    }),
  ];
}
