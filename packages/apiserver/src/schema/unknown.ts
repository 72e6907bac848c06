import { isObject } from '../json.ts';
import { memberSchema, type Schema } from './schema.ts';
import { joined } from './validate.ts';

/** Paths of the members a schema does not have: those that normalising removes. */
export function unknownMembers(value: unknown, schema: Schema, path = ''): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, at) => unknownMembers(item, items, `${path}[${at}]`)) : [];
  }
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => {
    const known = memberSchema(schema, key);
    if (known) return unknownMembers(value[key], known, joined(path, key));
    return schema['x-kubernetes-preserve-unknown-fields'] ? [] : [joined(path, key)];
  });
}
