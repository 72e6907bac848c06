/**
 * Reads a protobuf message as a built-in type: what comes out is what the same object would have been as JSON.
 *
 * Two tables meet here. `fields.gen.ts` says which field is which member; the structure of the type says what the
 * member is, and whether it is written when empty: protobuf sends much that JSON leaves out. Fields nobody knows
 * are passed over, as everywhere in protobuf. A field that comes twice is taken as protobuf takes it: lists grow,
 * messages merge, of all else the last counts.
 */
import { Fault } from '@hutch/base';
import type { JsonObject } from '../json.ts';
import type { Member } from '../schema/structure.ts';
import { structures } from '../schema/structures/index.gen.ts';
import { protobufFields } from './fields.gen.ts';
import type { Fields } from './fields.ts';
import { intOrStringFrom, jsonFrom, microTimeFrom, quantityFrom, timeFrom } from './scalars.ts';
import { WireReader, wireTypes } from './wire.ts';

/** Deeper values are refused rather than followed: the depth comes from a caller, the stack is ours. */
const maxDepth = 500;

type Struct = Record<string, unknown>;

/** Where a value is read: the wire, how it was announced there, and what it is called when it is wrong. */
interface Source {
  readonly reader: WireReader;
  readonly wireType: number;
  readonly name: string;
  readonly depth: number;
}

/** An `invalid` fault, in the words of a Go decoder, for bytes that cannot be of the type. */
export function readMessage(bytes: Buffer, type: string): JsonObject {
  return readStruct(new WireReader(bytes), type, {}, 0);
}

function readStruct(reader: WireReader, type: string, into: Struct, depth: number): Struct {
  const fields = protobufFields[type];
  const structure = structures[type];
  if (!fields || !structure) throw new Error(`no protobuf fields of type ${type}`);
  const message = type.slice(type.lastIndexOf('.') + 1);
  readFields(reader, { message, fields, members: structure.members, into, depth });
  return into;
}

interface Target {
  readonly message: string;
  readonly fields: Fields;
  readonly members: Readonly<Record<string, Member>>;
  readonly into: Struct;
  readonly depth: number;
}

function readFields(reader: WireReader, target: Target): void {
  const { message, fields, members, into, depth } = target;
  if (depth > maxDepth) throw new Fault('invalid', 'proto: exceeded max depth');
  while (!reader.isDone) {
    const { number, wireType } = reader.tag(message);
    const field = Object.hasOwn(fields, number) ? fields[number] : undefined;
    if (field === undefined) {
      reader.skip(wireType);
    } else if (typeof field === 'string') {
      const member = members[field];
      if (!member) throw new Error(`no member ${field} in ${message}`);
      readMember({ reader, wireType, name: field, depth: depth + 1 }, member, into);
    } else {
      const inside = messageOf({ reader, wireType, name: message, depth });
      readFields(inside, { ...target, fields: field, depth: depth + 1 });
    }
  }
}

function readMember(source: Source, member: Member, into: Struct): void {
  const { name } = source;
  const { type } = member;
  if (type.startsWith('[]')) {
    const list = (into[name] ?? []) as unknown[];
    readItems(source, type.slice(2), list);
    if (list.length > 0) into[name] = list;
    return;
  }
  if (type.startsWith('{}')) {
    const map = (into[name] ?? {}) as Struct;
    readEntry(source, type.slice(2), map);
    into[name] = map;
    return;
  }
  const value = readValue(source, type, into[name]);
  if (isLeftOut(value, member)) delete into[name];
  else into[name] = value;
}

/** What JSON would not mention. Structs are written even when nothing is in them. */
function isLeftOut(value: unknown, { pointer, keep, omitZero }: Member): boolean {
  if (value === null) return omitZero === true;
  return !pointer && !keep && (value === '' || value === 0 || value === false);
}

const numeric: ReadonlySet<string> = new Set(['bool', 'int32', 'int64', 'double']);

/** One more item of a list, or several numbers packed together. */
function readItems(source: Source, type: string, list: unknown[]): void {
  if (source.wireType !== wireTypes.bytes || !numeric.has(type)) {
    list.push(readValue(source, type));
    return;
  }
  const reader = source.reader.message();
  const wireType = type === 'double' ? wireTypes.fixed64 : wireTypes.varint;
  while (!reader.isDone) list.push(readValue({ ...source, reader, wireType }, type));
}

/** A map travels as a list of keys with their values. */
function readEntry(source: Source, type: string, map: Struct): void {
  const reader = messageOf(source);
  let key = '';
  let value: unknown;
  while (!reader.isDone) {
    const { number, wireType } = reader.tag('Entry');
    const part = { ...source, reader, wireType };
    if (number === 1) key = readValue(part, 'string') as string;
    else if (number === 2)
      value = type.startsWith('[]') ? listOf(part, type.slice(2)) : readValue(part, type);
    else reader.skip(wireType);
  }
  // Defined rather than assigned, so that `__proto__` is a key like any other.
  const member = { value: value ?? emptyOf(type), enumerable: true, writable: true, configurable: true };
  Object.defineProperty(map, key, member);
}

/** A list as the value of a map travels as a message with one field. */
function listOf(source: Source, type: string): unknown[] {
  const reader = messageOf(source);
  const list: unknown[] = [];
  while (!reader.isDone) {
    const { number, wireType } = reader.tag('Items');
    if (number === 1) list.push(readValue({ ...source, reader, wireType }, type));
    else reader.skip(wireType);
  }
  return list;
}

/** The value of a key that came without one. */
function emptyOf(type: string): unknown {
  if (type.startsWith('[]')) return [];
  if (type === 'quantity') return '0';
  return type === 'string' || type === 'bytes' ? '' : Object.hasOwn(structures, type) ? {} : null;
}

function readValue(source: Source, type: string, previous?: unknown): unknown {
  switch (type) {
    case 'string':
      return expecting(source, wireTypes.bytes).text();
    case 'bytes':
      return expecting(source, wireTypes.bytes).bytes().toString('base64');
    case 'bool':
      return expecting(source, wireTypes.varint).bool();
    case 'int32':
      return expecting(source, wireTypes.varint).int32();
    case 'int64':
      return expecting(source, wireTypes.varint).int64();
    case 'double':
      return readDouble(expecting(source, wireTypes.fixed64));
    case 'time':
      return timeFrom(messageOf(source));
    case 'micro-time':
      return microTimeFrom(messageOf(source));
    case 'quantity':
      return quantityFrom(messageOf(source));
    case 'int-or-string':
      return intOrStringFrom(messageOf(source));
    case 'json':
      return jsonFrom(messageOf(source));
    case 'schema-or-bool':
    case 'schema-or-list':
    case 'schema-or-strings':
      return readAlternative(source, alternatives[type]);
    default:
      return readStruct(messageOf(source), type, (previous ?? {}) as Struct, source.depth);
  }
}

function expecting({ reader, wireType, name }: Source, wanted: number): WireReader {
  if (wireType === wanted) return reader;
  const field = name.charAt(0).toUpperCase() + name.slice(1);
  throw new Fault('invalid', `proto: wrong wireType = ${wireType} for field ${field}`);
}

function messageOf(source: Source): WireReader {
  return expecting(source, wireTypes.bytes).message();
}

/** JSON has no words for the others. */
function readDouble(reader: WireReader): number {
  const value = reader.double();
  if (Number.isFinite(value)) return value;
  throw new Fault('invalid', `json: unsupported value: ${value}`);
}

const schema = 'apiextensions.v1.JSONSchemaProps';

interface Alternative {
  readonly fields: Fields;
  readonly members: Readonly<Record<string, Member>>;
  /** The member that counts. */
  readonly choose: (struct: Struct) => unknown;
}

/** Members of JSON schemas that are written as one of several things, and travel as a message of them all. */
const alternatives: Readonly<Record<'schema-or-bool' | 'schema-or-list' | 'schema-or-strings', Alternative>> =
  {
    'schema-or-bool': {
      fields: { 1: 'allows', 2: 'schema' },
      members: { allows: { type: 'bool' }, schema: { type: schema, pointer: true } },
      choose: ({ allows = false, schema }) => schema ?? allows,
    },
    'schema-or-list': {
      fields: { 1: 'schema', 2: 'schemas' },
      members: { schema: { type: schema, pointer: true }, schemas: { type: `[]${schema}` } },
      choose: ({ schema = null, schemas }) => schemas ?? schema,
    },
    'schema-or-strings': {
      fields: { 1: 'schema', 2: 'property' },
      members: { schema: { type: schema, pointer: true }, property: { type: '[]string' } },
      choose: ({ schema = null, property }) => property ?? schema,
    },
  };

function readAlternative(source: Source, { fields, members, choose }: Alternative): unknown {
  const into: Struct = {};
  readFields(messageOf(source), { message: 'JSONSchemaProps', fields, members, into, depth: source.depth });
  return choose(into);
}
