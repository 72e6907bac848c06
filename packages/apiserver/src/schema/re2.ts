/**
 * Regular expressions as Kubernetes writes them (Go's RE2) in the engine we have. The syntax is translated where the
 * two differ. JavaScript's engine backtracks, so a pattern can take a time that grows without bound: `paceOf` tells
 * which cannot; all others are only ever run under watch.
 */
import { needsWatch } from './time-box.ts';

const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const compiled = new Map<string, RegExp>();
const maxCompiled = 1000;

/** Throws a SyntaxError for a pattern that neither engine takes. */
export function regExpOf(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const made = translated(pattern);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

function translated(pattern: string): RegExp {
  let flags = '';
  const body = pattern.replace(/^\(\?([ims]+)\)/, (_, letters: string) => {
    flags = letters;
    return '';
  });
  const source = rewritten(body);
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    // RE2 takes a backslash before any punctuation; only the loose syntax does here.
    return new RegExp(source, flags);
  }
}

function rewritten(pattern: string): string {
  let out = '';
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at);
    const anchor = /^\\([AzZQ])/.exec(rest);
    const posix = inClass ? /^\[:(\^?)(\w+):\]/.exec(rest) : null;
    if (anchor && !inClass) {
      out += anchor[1] === 'A' ? '^' : '$';
      at++;
    } else if (rest.startsWith('\\')) {
      out += rest.slice(0, 2);
      at++;
    } else if (posix && posix[2] !== undefined && posix[1] === '') {
      out += posixClasses[posix[2]] ?? posix[0];
      at += posix[0].length - 1;
    } else if (!inClass && rest.startsWith('(?P<')) {
      out += '(?<';
      at += 3;
    } else {
      if (rest[0] === '[') inClass = true;
      else if (rest[0] === ']') inClass = false;
      out += rest[0];
    }
  }
  return out;
}

/**
 * How the time a pattern takes can grow with its text: in proportion (`swift`: one part repeats at most), faster but
 * not much for a short text (`flat`: nothing that repeats stands inside something that repeats), or beyond all
 * bounds (`wild`).
 */
export function paceOf(pattern: string): 'swift' | 'flat' | 'wild' {
  const bare = pattern.replace(/\\./g, 'x').replace(/\[(?:\[:\^?\w+:\]|[^\]])*\]/g, 'x');
  if (/\)(?:[*+]|\{\d)/.test(bare)) return 'wild';
  const unbounded = bare.match(/[*+]|\{\d+,\}/g) ?? [];
  return unbounded.length <= 1 ? 'swift' : 'flat';
}

const paces = new Map<string, 'swift' | 'flat' | 'wild'>();
const shortText = 100;

/** Whether a text matches; under watch where that could take any time. */
export function matches(pattern: string, text: string): boolean {
  const pace = knownPace(pattern);
  if (pace === 'wild' || (pace === 'flat' && text.length > shortText)) needsWatch();
  return regExpOf(pattern).test(text);
}

function knownPace(pattern: string): 'swift' | 'flat' | 'wild' {
  const known = paces.get(pattern);
  if (known) return known;
  const pace = paceOf(pattern);
  if (paces.size >= maxCompiled) paces.clear();
  paces.set(pattern, pace);
  return pace;
}
