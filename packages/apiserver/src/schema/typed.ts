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
  const read = readStruct(value, type, new Place({ unknown, defaults, depth: 0 }));
  return { value: read, unknown };
}

interface Reading {
  readonly unknown: string[];
  /** None: what is not given stays away. */
  readonly defaults: TypeDefaults | undefined;
  /** How deep the value that is read stands itself. */
  readonly depth: number;
}

/** Where a value stands. Most values are right, so the way there is only put together when it has to be told. */
class Place {
  readonly reading: Reading;
  readonly depth: number;
  /** The Go name of the type there, where it has one of its own. */
  readonly go: string | undefined;
  readonly #parent: Place | undefined;
  readonly #step: string | number;
  /** The struct the step is a field of, and the one embedded in that the field belongs to. */
  readonly #struct: string | undefined;
  readonly #via: string | undefined;

  constructor(
    reading: Reading,
    parent?: Place,
    step: string | number = '',
    of?: { struct: string; member: Member },
  ) {
    this.reading = reading;
    this.depth = (parent?.depth ?? reading.depth) + 1;
    this.go = of ? of.member.go : typeof step === 'string' ? parent?.go : undefined;
    this.#parent = parent;
    this.#step = step;
    this.#struct = of?.struct;
    this.#via = of?.member.via;
  }

  field(key: string, struct: string, member: Member): Place {
    return new Place(this.reading, this, key, { struct, member });
  }

  entry(key: string | number): Place {
    return new Place(this.reading, this, key);
  }

  /** Of a schema inside a definition: it is read apart, and what is unknown in it is dropped without a word. */
  apart(): Place {
    return new Place({ ...this.reading, unknown: [], depth: this.depth });
  }

  get path(): string {
    if (!this.#parent) return '';
    const before = this.#parent.path;
    if (typeof this.#step === 'number') return `${before}[${this.#step}]`;
    return before === '' ? this.#step : `${before}.${this.#step}`;
  }

  /** As a Go decoder names it: the innermost struct, and the fields on the way, without keys and indexes. */
  get goField(): string | undefined {
    const struct = this.#innermost();
    return struct === undefined ? undefined : `${struct}.${this.#fields().join('.')}`;
  }

  #innermost(): string | undefined {
    return this.#struct ?? (this.#parent ? this.#parent.#innermost() : undefined);
  }

  #fields(): string[] {
    const before = this.#parent ? this.#parent.#fields() : [];
    if (this.#struct === undefined) return before;
    return [...before, ...(this.#via === undefined ? [] : [this.#via]), String(this.#step)];
  }
}

function tooDeep(): Fault {
  return new Fault('invalid', 'json: exceeded max depth');
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

function wrongType(value: unknown, type: string, at: Place, shown = jsonName(value)): Fault {
  const { goField, go = goName(type) } = at;
  const where = goField === undefined ? 'Go value' : `Go struct field ${goField}`;
  return new Fault('invalid', `json: cannot unmarshal ${shown} into ${where} of type ${go}`);
}

function readStruct(value: unknown, type: string, at: Place): JsonObject {
  if (!isObject(value)) throw wrongType(value, type, at);
  if (at.depth > maxDepth) throw tooDeep();
  const { members } = structType(type);
  const struct = type.slice(type.lastIndexOf('.') + 1);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = Object.hasOwn(members, key) ? members[key] : undefined;
    if (!member) {
      at.reading.unknown.push(at.entry(key).path);
      continue;
    }
    const given = value[key];
    if (given === null || given === undefined) continue;
    const read = readType(given, member.type, at.field(key, struct, member));
    if (member.pointer || member.keep || !isEmpty(read)) result[key] = read;
  }
  return completed(result, type, at.reading.defaults);
}

/** With its defaults, and with what is written although it was not given. */
function completed(
  struct: Record<string, unknown>,
  type: string,
  defaults: TypeDefaults | undefined,
): JsonObject {
  for (const { key, member, isWritten } of completions(type)) {
    if (Object.hasOwn(struct, key)) continue;
    if (defaults && member.default !== undefined) struct[key] = member.default;
    else if (isWritten) struct[key] = zeroOf(member, defaults);
  }
  const added = defaults?.[type]?.(struct);
  if (!added) return struct;
  const { members } = structType(type);
  for (const key of Object.keys(added)) if (isUnset(struct[key], members[key])) struct[key] = added[key];
  return struct;
}

interface Completion {
  readonly key: string;
  readonly member: Member;
  readonly isWritten: boolean;
}

const completionsOf = new Map<string, readonly Completion[]>();

/** The members of a type that can appear without having been given: few, so they are looked for once. */
function completions(type: string): readonly Completion[] {
  const known = completionsOf.get(type);
  if (known) return known;
  const found = Object.entries(structType(type).members)
    .map(([key, member]) => ({ key, member, isWritten: isAlwaysWritten(member) }))
    .filter(({ member, isWritten }) => isWritten || member.default !== undefined);
  completionsOf.set(type, found);
  return found;
}

/** Behind a pointer only nothing is nothing; otherwise what is empty might as well be absent. */
function isUnset(value: unknown, member: Member | undefined): boolean {
  if (value === undefined || value === null) return true;
  return !member?.pointer && (value === '' || value === 0);
}

/** Types that read themselves say what is wrong without knowing where they stand. */
function readScalar(read: (value: unknown) => unknown, value: unknown, at: Place): unknown {
  try {
    return read(value);
  } catch (err) {
    if (!isFault(err, 'invalid')) throw err;
    const { goField } = at;
    if (goField === undefined) throw err;
    throw new Fault('invalid', err.message.replace('into Go value', `into Go struct field ${goField}`));
  }
}

function readType(value: unknown, type: string, at: Place): unknown {
  if (type.startsWith('[]')) return readList(value, type.slice(2), at);
  if (type.startsWith('{}')) return readMap(value, type.slice(2), at);
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw wrongType(value, type, at);
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw wrongType(value, type, at);
      return value;
    case 'int32':
      return readInteger(value, 2 ** 31, type, at);
    case 'int64':
      return readInteger(value, 2 ** 63, type, at);
    case 'double':
      if (typeof value !== 'number') throw wrongType(value, type, at);
      return value;
    case 'bytes':
      if (typeof value !== 'string') throw wrongType(value, type, at);
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
  return isObject(value) ? readStruct(value, 'apiextensions.v1.JSONSchemaProps', at.apart()) : null;
}

function readInteger(value: unknown, limit: number, type: string, at: Place): number {
  if (typeof value !== 'number') throw wrongType(value, type, at);
  if (!Number.isInteger(value) || value < -limit || value >= limit) {
    throw wrongType(value, type, at, `number ${JSON.stringify(value)}`);
  }
  return value;
}

function readList(value: unknown, type: string, at: Place): unknown {
  if (!Array.isArray(value)) throw wrongType(value, `[]${type}`, at);
  return value.map((item: unknown, index) => {
    if (item === null || item === undefined) return zeroOf({ type }, at.reading.defaults);
    return readType(item, type, at.entry(index));
  });
}

function readMap(value: unknown, type: string, at: Place): unknown {
  if (!isObject(value)) throw wrongType(value, `{}${type}`, at);
  const entries = Object.entries(value).map(([key, item]) => {
    if (item === null || item === undefined) {
      return [key, type === 'bytes' ? '' : zeroOf({ type }, at.reading.defaults)] as const;
    }
    return [key, readType(item, type, at.entry(key))] as const;
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
