/**
 * JSON Patch (RFC 6902) as Kubernetes reads it. The library changes the document; this file says where Kubernetes
 * is more generous than the RFC: replacing a member that is missing adds it, a missing value is null, testing for
 * null is passed by what is missing, and an index may count from the end.
 */
import { Fault } from '@hutch/base';
import library from 'fast-json-patch';
import { jsonEquals } from './merge-patch.ts';

type Json = unknown;
type Container = Json[] | Record<string, Json>;

/** A patch that copies a value into itself over and over would grow without end. */
const maxCopiedBytes = 3 * 1024 * 1024;

interface Operation {
  readonly op?: Json;
  readonly path?: Json;
  readonly from?: Json;
  readonly value?: Json;
}

/** What `target` becomes under the operations, in their order. An `invalid` fault says which of them does not apply. */
export function jsonPatch(target: Json, operations: readonly Json[]): Json {
  const patching = new Patching(structuredClone(target));
  for (const operation of operations) {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
      throw new Fault('invalid', 'an operation of a JSON patch is not an object');
    }
    patching.apply(operation);
  }
  return patching.document;
}

class Patching {
  document: Json;
  #copiedBytes = 0;

  constructor(document: Json) {
    this.document = document;
  }

  apply({ op, path: at, from, value = null }: Operation): void {
    const path = pointer(at, 'path');
    switch (op) {
      case 'add':
        this.#add(path, value);
        break;
      case 'remove':
        this.#remove(path);
        break;
      case 'replace':
        this.#replace(path, value);
        break;
      case 'test':
        if (!jsonEquals(path === '' ? this.document : (this.#place(path).value ?? null), value)) {
          throw doesNotApply('test', path, 'the value is another');
        }
        break;
      case 'move': {
        const source = this.#place(pointer(from, 'from'));
        this.#remove(pointer(from, 'from'));
        this.#add(path, source.value);
        break;
      }
      case 'copy':
        this.#copy(pointer(from, 'from'), path);
        break;
      default:
        throw new Fault('invalid', `JSON patch has no operation ${JSON.stringify(op)}`);
    }
  }

  #add(path: string, value: Json): void {
    const { parent, key } = this.#place(path, 1);
    if (Array.isArray(parent) && Number(key) > parent.length)
      throw doesNotApply('add', path, 'no such index');
    this.#change({ op: 'add', path: joined(path, key), value: structuredClone(value) });
  }

  #remove(path: string): void {
    const { exists, key } = this.#place(path);
    if (!exists) throw doesNotApply('remove', path, 'there is nothing');
    this.#change({ op: 'remove', path: joined(path, key) });
  }

  #replace(path: string, value: Json): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null) throw doesNotApply('replace', path, 'no container');
      this.document = structuredClone(value);
      return;
    }
    const { parent, exists, key } = this.#place(path);
    if (Array.isArray(parent) && !exists) throw doesNotApply('replace', path, 'no such index');
    const op = exists ? 'replace' : 'add';
    this.#change({ op, path: joined(path, key), value: structuredClone(value) });
  }

  #copy(from: string, path: string): void {
    const { value = null, parent, exists } = this.#place(from);
    if (Array.isArray(parent) && !exists) throw doesNotApply('copy', from, 'no such index');
    this.#copiedBytes += JSON.stringify(value).length;
    if (this.#copiedBytes > maxCopiedBytes) {
      throw new Fault('invalid', `JSON patch copies more than ${maxCopiedBytes} bytes`);
    }
    this.#add(path, value);
  }

  /** `room`: how many places behind the end of an array may be named. */
  #place(path: string, room = 0): Place {
    const keys = path.split('/').slice(1).map(unescaped);
    const last = keys.pop();
    if (last === undefined) throw doesNotApply('find', path, 'the whole document is no place in it');
    let parent = this.document;
    for (const key of keys) parent = member(parent, indexIn(parent, key, 0));
    if (!isContainer(parent)) throw doesNotApply('find', path, 'the path leads nowhere');
    const key = indexIn(parent, last, room);
    const exists = Object.hasOwn(parent, key);
    return { parent, key, exists, value: exists ? member(parent, key) : undefined };
  }

  #change(operation: { op: 'add' | 'replace'; path: string; value: Json } | { op: 'remove'; path: string }) {
    try {
      this.document = library.applyOperation(this.document, operation).newDocument;
    } catch (cause) {
      // The library refuses what would reach a prototype.
      throw new Fault('invalid', `JSON patch cannot ${operation.op} ${operation.path}`, { cause });
    }
  }
}

interface Place {
  readonly parent: Container;
  /** An index of an array is resolved: never negative, never `-`. */
  readonly key: string;
  readonly exists: boolean;
  readonly value: Json;
}

function pointer(value: Json, name: string): string {
  if (typeof value !== 'string' || (value !== '' && !value.startsWith('/'))) {
    throw new Fault('invalid', `${name} of a JSON patch operation is ${JSON.stringify(value)}`);
  }
  return value;
}

function isContainer(value: Json): value is Container {
  return typeof value === 'object' && value !== null;
}

function member(value: Json, key: string): Json {
  return isContainer(value) && Object.hasOwn(value, key) ? (value as Record<string, Json>)[key] : undefined;
}

function indexIn(parent: Json, key: string, room: number): string {
  if (!Array.isArray(parent)) return key;
  if (key === '-' && room > 0) return String(parent.length);
  if (!/^[+-]?\d{1,15}$/.test(key)) throw new Fault('invalid', `JSON patch index "${key}" is none`);
  const index = Number(key) < 0 ? Number(key) + parent.length + room : Number(key);
  if (index < 0) throw new Fault('invalid', `JSON patch index ${key} is before the first`);
  return String(index);
}

/** The path with its last part as it was resolved. */
function joined(path: string, key: string): string {
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1');
  return `${path.slice(0, path.lastIndexOf('/'))}/${escaped}`;
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function doesNotApply(op: string, path: string, why: string): Fault {
  return new Fault('invalid', `JSON patch cannot ${op} "${path}": ${why}`);
}
