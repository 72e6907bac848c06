/**
 * Reads a JSON value as a built-in type, the way a program with that type would: members the type does not have are
 * dropped (and told), a member of the wrong type is an error, and what comes out is written as that program would
 * write it: empty members left out or filled in, quantities and times in their one form.
 */
import { Fault, isFault } from '@hutch/base';
import { isObject, type JsonObject } from '../json.ts';
import { bytesOf, intOrStringOf, microTimeOf, milliQuantityOf, quantityOf, timeOf } from './scalars.ts';
import type { Member, StructType } from './structure.ts';
import { structures } from './structures/index.gen.ts';

/** Deeper values are refused rather than followed: the depth comes from a caller, the stack is ours. */
const maxDepth = 500;

export interface Typed {
  readonly value: JsonObject;
  /** Paths of what the type does not have, in the order of the text. */
  readonly unknown: readonly string[];
}

/** By the name of a struct type: the members it gets when they are absent. */
export type TypeDefaults = Readonly<Record<string, (struct: JsonObject) => JsonObject>>;

/** An `invalid` fault, in the words of a Go decoder, for a value that cannot be of the type. */
export function readTyped(value: unknown, type: string, defaults?: TypeDefaults): Typed {
  const unknown: string[] = [];
  const at: Place = { struct: undefined, fields: '', path: '', unknown, depth: 0, defaults };
  return { value: readStruct(value, type, at), unknown };
}

interface Place {
  /** The struct whose field is being read, and the way to the field: both are told when the type is wrong. */
  readonly struct: string | undefined;
  readonly fields: string;
  /** The Go name of the type there, where it has one of its own. */
  readonly go?: string | undefined;
  readonly path: string;
  readonly unknown: string[];
  readonly depth: number;
  /** None: what is not given stays away. */
  readonly defaults: TypeDefaults | undefined;
}

function structType(type: string): StructType {
  const known = structures[type];
  if (!known) throw new Error(`no structure of type ${type}`);
  return known;
}

/** `core.v1.Pod` is `v1.Pod` in Go. */
function goName(type: string): string {
  if (type.startsWith('[]')) return `[]${goName(type.slice(2))}`;
  if (type.startsWith('{}')) return `map[string]${goName(type.slice(2))}`;
  return goScalars[type] ?? type.split('.').slice(-2).join('.');
}

const goScalars: Readonly<Record<string, string>> = {
  double: 'float64',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  time: 'v1.Time',
  'micro-time': 'v1.MicroTime',
  'int-or-string': 'intstr.IntOrString',
};

function jsonName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function wrongType(value: unknown, type: string, { struct, fields }: Place, shown = jsonName(value)): Fault {
  const where = struct === undefined ? 'Go value' : `Go struct field ${struct}.${fields}`;
  return new Fault('invalid', `json: cannot unmarshal ${shown} into ${where} of type ${type}`);
}

function readStruct(value: unknown, type: string, at: Place): JsonObject {
  if (!isObject(value)) throw wrongType(value, goName(type), at);
  if (at.depth > maxDepth) throw new Fault('invalid', 'json: exceeded max depth');
  const { members } = structType(type);
  const struct = type.slice(type.lastIndexOf('.') + 1);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const path = at.path === '' ? key : `${at.path}.${key}`;
    const member = Object.hasOwn(members, key) ? members[key] : undefined;
    if (!member) {
      at.unknown.push(path);
      continue;
    }
    const given = value[key];
    if (given === null || given === undefined) continue;
    const name = member.via === undefined ? key : `${member.via}.${key}`;
    const fields = at.fields === '' ? name : `${at.fields}.${name}`;
    const read = readType(given, member.type, {
      ...at,
      struct,
      fields,
      go: member.go,
      path,
      depth: at.depth + 1,
    });
    if (member.pointer || member.keep || !isEmpty(read)) result[key] = read;
  }
  return completed(result, type, at.defaults);
}

/** With its defaults, and with what is written although it was not given. */
function completed(
  struct: Record<string, unknown>,
  type: string,
  defaults: TypeDefaults | undefined,
): JsonObject {
  for (const [key, member] of Object.entries(structType(type).members)) {
    if (Object.hasOwn(struct, key)) continue;
    if (defaults && member.default !== undefined) struct[key] = member.default;
    else if (isAlwaysWritten(member)) struct[key] = zeroOf(member, defaults);
  }
  const added = defaults?.[type]?.(struct) ?? {};
  for (const [key, value] of Object.entries(added)) {
    if (isUnset(struct[key], structType(type).members[key])) struct[key] = value;
  }
  return struct;
}

/** Behind a pointer only nothing is nothing; otherwise what is empty might as well be absent. */
function isUnset(value: unknown, member: Member | undefined): boolean {
  if (value === undefined || value === null) return true;
  return !member?.pointer && (value === '' || value === 0);
}

/** Types that read themselves say what is wrong without knowing where they stand. */
function readScalar(read: (value: unknown) => unknown, value: unknown, { struct, fields }: Place): unknown {
  try {
    return read(value);
  } catch (err) {
    if (!isFault(err, 'invalid') || struct === undefined) throw err;
    throw new Fault(
      'invalid',
      err.message.replace('into Go value', `into Go struct field ${struct}.${fields}`),
    );
  }
}

function readType(value: unknown, type: string, at: Place): unknown {
  const go = at.go ?? goName(type);
  if (type.startsWith('[]')) return readList(value, type.slice(2), at);
  if (type.startsWith('{}')) return readMap(value, type.slice(2), at);
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw wrongType(value, go, at);
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw wrongType(value, go, at);
      return value;
    case 'int32':
      return readInteger(value, 2 ** 31, go, at);
    case 'int64':
      return readInteger(value, 2 ** 63, go, at);
    case 'double':
      if (typeof value !== 'number') throw wrongType(value, go, at);
      return value;
    case 'bytes':
      if (typeof value !== 'string') throw wrongType(value, go, at);
      return bytesOf(value);
    case 'quantity':
      return at.go === 'v1.ResourceList' ? milliQuantityOf(value) : quantityOf(value);
    case 'time':
      return readScalar(timeOf, value, at);
    case 'micro-time':
      return readScalar(microTimeOf, value, at);
    case 'int-or-string':
      return readScalar(intOrStringOf, value, at);
    case 'json':
      return value;
    case 'schema-or-bool':
      if (typeof value === 'boolean') return value;
      if (!isObject(value)) throw new Fault('invalid', 'boolean or JSON schema expected');
      return readSchema(value, at);
    case 'schema-or-list':
      return Array.isArray(value) ? value.map((one) => readSchema(one, at)) : readSchema(value, at);
    case 'schema-or-strings':
      return Array.isArray(value) ? readList(value, 'string', at) : readSchema(value, at);
    default:
      return readStruct(value, type, at);
  }
}

/** These decode their own content, so what is unknown inside them is dropped without a word. */
function readSchema(value: unknown, at: Place): unknown {
  if (!isObject(value)) return null;
  const inside: Place = { ...at, struct: undefined, fields: '', unknown: [], depth: at.depth + 1 };
  return readStruct(value, 'apiextensions.v1.JSONSchemaProps', inside);
}

function readInteger(value: unknown, limit: number, go: string, at: Place): number {
  if (typeof value !== 'number') throw wrongType(value, go, at);
  if (!Number.isInteger(value) || value < -limit || value >= limit) {
    throw wrongType(value, go, at, `number ${JSON.stringify(value)}`);
  }
  return value;
}

function readList(value: unknown, type: string, at: Place): unknown {
  if (!Array.isArray(value)) throw wrongType(value, at.go ?? `[]${goName(type)}`, at);
  return value.map((item: unknown, index) => {
    if (item === null || item === undefined) return zeroOf({ type }, at.defaults);
    return readType(item, type, { ...at, go: undefined, path: `${at.path}[${index}]` });
  });
}

function readMap(value: unknown, type: string, at: Place): unknown {
  if (!isObject(value)) throw wrongType(value, at.go ?? `map[string]${goName(type)}`, at);
  const entries = Object.entries(value).map(([key, item]) => {
    if (item === null || item === undefined) {
      return [key, type === 'bytes' ? '' : zeroOf({ type }, at.defaults)] as const;
    }
    return [key, readType(item, type, { ...at, path: `${at.path}.${key}` })] as const;
  });
  return Object.fromEntries(entries); // defines members, so that `__proto__` is one like any other
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || value === 0 || value === false || (isObject(value) && isEmptyMap(value));
}

/** A struct is never empty in this sense: only maps come here without members, see `isAlwaysWritten`. */
function isEmptyMap(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}

const structLike: ReadonlySet<string> = new Set(['time', 'micro-time', 'quantity', 'int-or-string']);

function isStruct(type: string): boolean {
  return structLike.has(type) || Object.hasOwn(structures, type);
}

/** Structs are written even when nothing is in them, unless they are behind a pointer. */
function isAlwaysWritten({ type, pointer, keep, omitZero }: Member): boolean {
  if (pointer) return keep === true;
  return keep === true || (isStruct(type) && !omitZero);
}

/** What a member that was not given is written as. */
function zeroOf(
  { type, pointer }: Pick<Member, 'type' | 'pointer'>,
  defaults: TypeDefaults | undefined,
): unknown {
  if (pointer || type.startsWith('[]') || type.startsWith('{}')) return null;
  switch (type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'int-or-string':
      return 0;
    case 'quantity':
      return '0';
    case 'bytes':
    case 'json':
    case 'time':
    case 'micro-time':
    case 'schema-or-bool':
    case 'schema-or-list':
    case 'schema-or-strings':
      return null;
    default:
      return completed({}, type, defaults);
  }
}
