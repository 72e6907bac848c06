import type { Environment } from '@marcbachmann/cel-js';
import { matches, regExpOf } from '../../re2.ts';

/** In place of the language's own `matches`, which takes JavaScript's syntax; rules are rewritten to it. */
export const matchesName = 'reMatch';

export function registerStrings(env: Environment): void {
  const isMatch = (text: string, pattern: string) => matches(pattern, text);
  env.registerFunction(`string.${matchesName}(string): bool`, isMatch);
  env.registerFunction('matches(string, string): bool', isMatch);
  env.registerFunction('string.find(string): string', (text: string, pattern: string) =>
    matches(pattern, text) ? (regExpOf(pattern).exec(text)?.[0] ?? '') : '',
  );
  env.registerFunction('string.findAll(string): list<string>', findAll);
  env.registerFunction('string.findAll(string, int): list<string>', findAll);
  env.registerFunction('string.charAt(int): string', (text: string, at: bigint) => {
    const chars = [...text];
    if (at < 0n || at > BigInt(chars.length)) throw new Error(`index out of range: ${at}`);
    return chars[Number(at)] ?? '';
  });
  env.registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
  env.registerFunction('string.replace(string, string, int): string', replace);
  env.registerFunction('string.reverse(): string', (text: string) => [...text].reverse().join(''));
  env.registerFunction('string.format(list): string', format);
}

function findAll(text: string, pattern: string, limit = -1n): string[] {
  if (!matches(pattern, text)) return [];
  const found = Array.from(
    text.matchAll(new RegExp(regExpOf(pattern), `${regExpOf(pattern).flags}g`)),
    ([one]) => one,
  );
  return limit < 0n ? found : found.slice(0, Number(limit));
}

function replace(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to);
  let rest = text;
  let done = '';
  for (let left = limit; left > 0n; left--) {
    const at = rest.indexOf(from);
    if (at < 0) break;
    done += rest.slice(0, at) + to;
    rest = rest.slice(at + from.length);
  }
  return done + rest;
}

/** `%s %d %f %e %b %x %X %o %%`, with a precision where that means something. */
function format(template: string, values: readonly unknown[]): string {
  let next = 0;
  return template.replace(/%(?:\.(\d+))?([sdfebxXo%])/g, (_, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    return formatted(values[next++], verb, precision === undefined ? 6 : Number(precision));
  });
}

function formatted(value: unknown, verb: string, precision: number): string {
  switch (verb) {
    case 'd':
      return String(value);
    case 'f':
      return Number(value).toFixed(precision);
    case 'e':
      return Number(value)
        .toExponential(precision)
        .replace(/e([+-])(\d)$/, 'e$10$2');
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : BigInt(value as bigint).toString(2);
    case 'o':
      return BigInt(value as bigint).toString(8);
    case 'x':
    case 'X': {
      const hex =
        typeof value === 'string' ? Buffer.from(value).toString('hex') : BigInt(value as bigint).toString(16);
      return verb === 'x' ? hex : hex.toUpperCase();
    }
    default:
      return shown(value);
  }
}

function shown(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (value instanceof Set) return shown([...value]);
  if (value instanceof Map) {
    const entries = [...value].map(([key, one]) => `${shown(key)}: ${shown(one)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  return String(value);
}
