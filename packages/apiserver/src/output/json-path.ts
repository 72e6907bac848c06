/**
 * The part of Kubernetes' JSONPath that paths into one object need: members, indexes and slices, wildcards,
 * filters that compare a member with a value, and the search for a name at any depth. A path is parsed once; one
 * that is none is an `invalid` fault.
 */
import { Fault } from '@hutch/base';
import { isObject } from '../json.ts';

type Step = (value: unknown) => unknown[];

/** Every value a path leads to, in the order of the object. */
export type JsonPath = (value: unknown) => unknown[];

/** Deep enough for any object; a search that goes on for ever would be a way to stop the server. */
const maxSearchDepth = 64;

export function parseJsonPath(text: string): JsonPath {
  const steps = new Parser(text).steps();
  return (value) => steps.reduce<unknown[]>((found, step) => found.flatMap(step), [value]);
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    if (this.#text[0] === '$' || this.#text[0] === '@') this.#at++;
    while (this.#at < this.#text.length) steps.push(this.#step());
    return steps;
  }

  #step(): Step {
    if (this.#take('..')) {
      if (this.#text[this.#at] === '[') return deep(this.#bracket());
      return deep(memberStep(this.#name()));
    }
    if (this.#take('.')) {
      if (this.#at === this.#text.length) return (value) => [value]; // `.` alone is the object itself
      return this.#text[this.#at] === '[' ? this.#bracket() : memberStep(this.#name());
    }
    if (this.#text[this.#at] === '[') return this.#bracket();
    // A path may leave its first dot out.
    if (this.#at === 0) return memberStep(this.#name());
    throw this.#wrong();
  }

  /** A name up to the next dot or bracket; a backslash makes one of these part of it. */
  #name(): string {
    let name = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] as string;
      if (char === '\\' && this.#at + 1 < this.#text.length) name += this.#text[++this.#at];
      else if (char === '.' || char === '[') break;
      else name += char;
    }
    if (name === '') throw this.#wrong();
    return name;
  }

  #bracket(): Step {
    const inside = this.#upToClosing();
    const filter = /^\?\((.*)\)$/s.exec(inside);
    if (filter) return filterStep(parseFilter(filter[1] ?? '', this.#text));
    const parts = splitOutside(inside, ',').map((part) => part.trim());
    const steps = parts.map((part) => this.#choice(part));
    return (value) => steps.flatMap((step) => step(value));
  }

  #choice(part: string): Step {
    const quoted = unquoted(part);
    if (quoted !== undefined) return memberStep(quoted);
    if (part === '*') return wildcard;
    const slice = /^(-?\d*):(-?\d*)(?::(\d+))?$/.exec(part);
    if (slice) return sliceStep(slice[1] ?? '', slice[2] ?? '', Number(slice[3] ?? '1'));
    if (/^-?\d+$/.test(part)) return indexStep(Number(part));
    throw this.#wrong();
  }

  /** The text between the bracket we stand on and the one that closes it. */
  #upToClosing(): string {
    const start = ++this.#at;
    const end = endOf(this.#text, start, ']');
    if (end < 0) throw this.#wrong();
    this.#at = end + 1;
    return this.#text.slice(start, end);
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #wrong(): Fault {
    return new Fault('invalid', `"${this.#text}" is no JSONPath at character ${this.#at}`);
  }
}

/** Where a closing character is, outside of quotes and of brackets opened after `from`; -1 when nowhere. */
function endOf(text: string, from: number, closing: string): number {
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (quote !== '') {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === closing && depth === 0) return at;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '[' || char === '(') depth++;
    else if (char === ']' || char === ')') depth--;
  }
  return -1;
}

function splitOutside(text: string, separator: string): string[] {
  const end = endOf(text, 0, separator);
  return end < 0 ? [text] : [text.slice(0, end), ...splitOutside(text.slice(end + 1), separator)];
}

function unquoted(text: string): string | undefined {
  const match = /^(["'])(.*)\1$/s.exec(text);
  return match ? (match[2] ?? '').replaceAll(/\\(.)/gs, '$1') : undefined;
}

function memberStep(name: string): Step {
  if (name === '*') return wildcard;
  return (value) => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []);
}

const wildcard: Step = (value) =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];

function indexStep(index: number): Step {
  return (value) => {
    if (!Array.isArray(value)) return [];
    const at = index < 0 ? value.length + index : index;
    return at >= 0 && at < value.length ? [value[at]] : [];
  };
}

function sliceStep(first: string, last: string, stride: number): Step {
  return (value) => {
    if (!Array.isArray(value)) return [];
    const part = value.slice(first === '' ? 0 : Number(first), last === '' ? undefined : Number(last));
    return stride > 1 ? part.filter((_, at) => at % stride === 0) : part;
  };
}

function deep(step: Step): Step {
  const search = (value: unknown, depth: number): unknown[] => {
    if (depth > maxSearchDepth) return [];
    return [...step(value), ...wildcard(value).flatMap((member) => search(member, depth + 1))];
  };
  return (value) => search(value, 0);
}

type Filter = (value: unknown) => boolean;

function filterStep(filter: Filter): Step {
  return (value) => wildcard(value).filter(filter);
}

const comparisons: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => order(a, b) < 0,
  '<=': (a, b) => order(a, b) <= 0,
  '>': (a, b) => order(a, b) > 0,
  '>=': (a, b) => order(a, b) >= 0,
};

/** Negative, zero or positive; NaN, for which every comparison is false, when the two have no order. */
function order(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  return Number.NaN;
}

function parseFilter(text: string, path: string): Filter {
  const match = /^\s*(@[^=!<>]*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?$/s.exec(text);
  const [, left, operator, right] = match ?? [];
  if (left === undefined) throw new Fault('invalid', `"${path}" has a filter that is none`);
  const of = parseJsonPath(left);
  if (operator === undefined || right === undefined) return (value) => of(value).length > 0;
  const compare = comparisons[operator] as (a: unknown, b: unknown) => boolean;
  const wanted = literal(right, path);
  return (value) => {
    const [first] = of(value);
    return first !== undefined && compare(first, wanted);
  };
}

function literal(text: string, path: string): unknown {
  const quoted = unquoted(text);
  if (quoted !== undefined) return quoted;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new Fault('invalid', `"${path}" compares with ${text}, which is no value`);
}
