/**
 * Prunes and defaults in one walk. The argument is never changed (it may be shared and frozen); parts that need
 * no change are shared with the result.
 */
import { isFault } from '@hutch/base';
import { jsonEquals } from '@hutch/kube-meta';
import { isObject, type JsonObject } from '../json.ts';
import { memberSchema, type Schema } from './schema.ts';
import { readTyped } from './typed.ts';

export function normalise(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? normaliseItems(value, schema.items) : value;
  if (isObject(value)) return normaliseObject(value, schema);
  return value;
}

function normaliseItems(items: readonly unknown[], schema: Schema): readonly unknown[] {
  const result = items.map((item) => normalise(item, schema));
  return result.some((item, index) => item !== items[index]) ? result : items;
}

function normaliseObject(object: JsonObject, schema: Schema): JsonObject {
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  // A schema that says nothing about members (a plain `type: object`) prunes all of them, as Kubernetes does.
  const members: [string, unknown][] = [];
  let isChanged = false;

  for (const [key, before] of Object.entries(object)) {
    const known = memberSchema(schema, key);
    if (!known) {
      if (preserves) members.push([key, before]);
      else isChanged = true;
      continue;
    }
    // A null where none is allowed counts as absent, so that a default can take its place.
    if (before === undefined || (before === null && !known.nullable && !acceptsAnything(known))) {
      isChanged = true;
      continue;
    }
    const after = isEmbeddedMetadata(schema, key) ? metadataOf(before) : normalise(before, known);
    if (after !== before) isChanged = true;
    members.push([key, after]);
  }

  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || hasValue(object, key, property)) continue;
    members.push([key, normalise(property.default, property)]);
    isChanged = true;
  }
  // fromEntries makes own members of every name, also of __proto__.
  return isChanged ? Object.fromEntries(members) : object;
}

function isEmbeddedMetadata(schema: Schema, key: string): boolean {
  return schema['x-kubernetes-embedded-resource'] === true && key === 'metadata';
}

/** The metadata of an object inside an object is metadata; what cannot be is left for validation to tell. */
function metadataOf(value: unknown): unknown {
  try {
    const read = readTyped(value, 'meta.v1.ObjectMeta').value;
    return jsonEquals(read, value) ? value : read;
  } catch (err) {
    if (!isFault(err, 'invalid')) throw err;
    return value;
  }
}

function hasValue(object: JsonObject, key: string, schema: Schema): boolean {
  if (!Object.hasOwn(object, key) || object[key] === undefined) return false;
  return object[key] !== null || schema.nullable === true;
}

function acceptsAnything(schema: Schema): boolean {
  return schema.type === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true;
}
