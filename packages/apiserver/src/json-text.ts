/** JSON as text: what is wrong with it in the words of Kubernetes' decoder, and which members it names twice. */
import { Fault } from '@hutch/base';
import { isObject } from './json.ts';

/** As many as Kubernetes reports of one body. */
const maxDuplicates = 100;

/** Objects of real kinds stay far below. */
const maxDepth = 1_000;

interface Frame {
  /** Undefined in an array. */
  readonly names: Set<string> | undefined;
  /** Of the member or item we are in. */
  place: string | number;
  /** Whether the next string is the name of a member. */
  expectsName: boolean;
}

/**
 * The paths of members that an object of the text has twice, as in `spec.containers[0].image`. The text is known
 * to be JSON. One that is nested too deeply is an `invalid` fault: its depth is the sender's choice, the stack of
 * whoever walks it later is ours.
 */
export function duplicateFields(text: string): string[] {
  const found: string[] = [];
  const frames: Frame[] = [];
  for (let at = 0; at < text.length; at++) {
    const frame = frames.at(-1);
    switch (text[at] as string) {
      case '"': {
        const end = endOfString(text, at);
        if (frame?.names && frame.expectsName) {
          const name = stringAt(text, at, end);
          frame.place = name;
          frame.expectsName = false;
          if (frame.names.has(name) && found.length < maxDuplicates) found.push(pathOf(frames));
          frame.names.add(name);
        }
        at = end;
        break;
      }
      case '{':
        frames.push({ names: new Set(), place: '', expectsName: true });
        checkDepth(frames.length);
        break;
      case '[':
        frames.push({ names: undefined, place: 0, expectsName: false });
        checkDepth(frames.length);
        break;
      case '}':
      case ']':
        frames.pop();
        break;
      case ',':
        if (frame?.names) frame.expectsName = true;
        else if (frame) frame.place = (frame.place as number) + 1;
        break;
    }
  }
  return found;
}

function checkDepth(depth: number): void {
  if (depth > maxDepth) throw new Fault('invalid', `the body is nested deeper than ${maxDepth}`);
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
    at = end;
  }
}

function stringAt(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end);
  return inside.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : inside;
}

function pathOf(frames: readonly Frame[]): string {
  return frames
    .map(({ place }, depth) => (typeof place === 'number' ? `[${place}]` : depth === 0 ? place : `.${place}`))
    .join('');
}

/**
 * Parses a text that names members twice as a decoder of typed objects does: what is said later about a member is
 * added to what was said before, and only replaces it where both cannot be. The text is known to be JSON of a sane
 * depth.
 */
export function parseMerged(text: string): unknown {
  let at = 0;
  const skipSpace = () => {
    while (' \t\n\r'.includes(text[at] ?? '.')) at++;
  };
  const string = (): string => {
    const end = endOfString(text, at);
    const value = stringAt(text, at, end);
    at = end + 1;
    return value;
  };
  const value = (): unknown => {
    skipSpace();
    if (text[at] === '{') return object();
    if (text[at] === '[') return array();
    if (text[at] === '"') return string();
    const start = at;
    while (at < text.length && !',]} \t\n\r'.includes(text[at] as string)) at++;
    return JSON.parse(text.slice(start, at)) as unknown;
  };
  /** What stands between two brackets, separated by commas. */
  const each = (closing: string, one: () => void) => {
    for (at++, skipSpace(); text[at] !== closing; skipSpace()) {
      if (text[at] === ',') at++;
      skipSpace();
      one();
    }
    at++;
  };
  const object = () => {
    const members = new Map<string, unknown>();
    each('}', () => {
      const name = string();
      skipSpace();
      at++; // the colon
      const next = value();
      const before = members.get(name);
      members.set(name, isObject(before) && isObject(next) ? { ...before, ...next } : next);
    });
    return Object.fromEntries(members);
  };
  const array = () => {
    const items: unknown[] = [];
    each(']', () => items.push(value()));
    return items;
  };
  return value();
}

/** Why a text is not JSON. Only asked of texts that `JSON.parse` refused. */
export function jsonProblem(text: string | Uint8Array): string {
  const problem = new Reader(typeof text === 'string' ? Buffer.from(text) : text).problem();
  return problem ?? 'invalid JSON';
}

const space = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ended = 'unexpected end of JSON input';

/** Walks the bytes like a decoder that stops at the first one it cannot use. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  problem(): string | undefined {
    try {
      this.#values();
      this.#skipSpace();
      if (this.#at < this.#bytes.length) this.#refuse('after top-level value');
      return undefined;
    } catch (err) {
      return (err as Error).message;
    }
  }

  /** One value and all it holds. What is open is kept in a list, not on the stack. */
  #values(): void {
    const open: ('{' | '[')[] = [];
    for (;;) {
      const opened = this.#begin();
      if (opened) {
        open.push(opened);
        this.#skipSpace();
        const closing = opened === '{' ? '}' : ']';
        if (this.#peek() !== closing) {
          if (opened === '{') this.#name();
          continue;
        }
        this.#at++;
        open.pop();
      }
      if (!this.#next(open)) return;
    }
  }

  /** After a value: closes what ends here and stands before the next value; false when there is none. */
  #next(open: ('{' | '[')[]): boolean {
    for (;;) {
      const inside = open.at(-1);
      if (inside === undefined) return false;
      this.#skipSpace();
      const char = this.#peek();
      if (char === ',') {
        this.#at++;
        if (inside === '{') {
          this.#skipSpace();
          this.#name();
        }
        return true;
      }
      if (char !== (inside === '{' ? '}' : ']')) {
        this.#refuse(inside === '{' ? 'after object key:value pair' : 'after array element');
      }
      this.#at++;
      open.pop();
    }
  }

  /** A scalar, or the opening of an object or array, which is answered. */
  #begin(): '{' | '[' | undefined {
    this.#skipSpace();
    const char = this.#peek();
    if (char === '{' || char === '[') {
      this.#at++;
      return char;
    }
    if (char === '"') this.#string();
    else if (char === 't') this.#literal('true');
    else if (char === 'f') this.#literal('false');
    else if (char === 'n') this.#literal('null');
    else if (char === '-' || isDigit(char)) this.#number();
    else this.#refuse('looking for beginning of value');
    return undefined;
  }

  #name(): void {
    if (this.#peek() !== '"') this.#refuse('looking for beginning of object key string');
    this.#string();
    this.#skipSpace();
    if (this.#peek() !== ':') this.#refuse('after object key');
    this.#at++;
  }

  #string(): void {
    for (this.#at++; ; this.#at++) {
      const char = this.#peek();
      if (char === '"') break;
      if (char < ' ') this.#refuse('in string literal');
      if (char === '\\') this.#escape();
    }
    this.#at++;
  }

  #escape(): void {
    this.#at++;
    if (this.#peek() !== 'u') {
      if (!'bfnrt\\/"'.includes(this.#peek())) this.#refuse('in string escape code');
      return;
    }
    for (let digits = 0; digits < 4; digits++) {
      this.#at++;
      if (!/[0-9a-fA-F]/.test(this.#peek())) this.#refuse('in \\u hexadecimal character escape');
    }
  }

  #literal(word: string): void {
    for (let index = 0; index < word.length; index++, this.#at++) {
      if (this.#peek() !== word[index]) this.#refuse(`in literal ${word} (expecting '${word[index]}')`);
    }
  }

  #number(): void {
    if (this.#peek() === '-') {
      this.#at++;
      if (!isDigit(this.#peek())) this.#refuse('in numeric literal');
    }
    if (this.#peek() === '0') this.#at++;
    else this.#digits();
    if (this.#isAt('.')) {
      this.#at++;
      if (!isDigit(this.#peek())) this.#refuse('after decimal point in numeric literal');
      this.#digits();
    }
    if (this.#isAt('e') || this.#isAt('E')) {
      this.#at++;
      if (this.#isAt('+') || this.#isAt('-')) this.#at++;
      if (!isDigit(this.#peek())) this.#refuse('in exponent of numeric literal');
      this.#digits();
    }
  }

  #digits(): void {
    while (this.#at < this.#bytes.length && isDigit(this.#peek())) this.#at++;
  }

  #isAt(char: string): boolean {
    return this.#at < this.#bytes.length && this.#peek() === char;
  }

  #skipSpace(): void {
    while (space.has(this.#bytes[this.#at] ?? 0)) this.#at++;
  }

  #peek(): string {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error(ended);
    return String.fromCharCode(byte);
  }

  #refuse(where: string): never {
    const char = this.#peek();
    throw new Error(`invalid character ${quoted(char)} ${where}`);
  }
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}

function quoted(char: string): string {
  if (char === "'") return `'\\''`;
  if (char === '"') return `'"'`;
  const code = char.charCodeAt(0);
  const isPrintable = (code >= 0x20 && code < 0x7f) || code > 0xa0;
  if (isPrintable) return `'${char === '\\' ? '\\\\' : char}'`;
  const named = { 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r' } as Record<number, string>;
  const name = named[code];
  if (name !== undefined) return `'\\${name}'`;
  const hex = code.toString(16).padStart(2, '0');
  return code < 0x80 ? `'\\x${hex}'` : `'\\u00${hex}'`;
}
