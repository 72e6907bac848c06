/** What is wrong with an expression, told the way Kubernetes' own compiler does: the place, the reason, an arrow. */
import type { ErrorLocation } from '@marcbachmann/cel-js';

interface CelError {
  readonly code?: string;
  readonly summary?: string;
  readonly message: string;
  readonly node?: ErrorLocation;
  readonly range?: { readonly start: number; readonly end: number };
}

type Node = ErrorLocation & { readonly args?: unknown };

const operators: Readonly<Record<string, string>> = {
  in: '@in',
  '!_': '!_',
  '-_': '-_',
};

export function explained(source: string, err: unknown): string {
  const { code = '', summary, message, node, range } = err as CelError;
  const text = summary ?? message;
  const place = placeOf(source, node as Node | undefined) ?? range?.start ?? 0;
  const column = place + 1;
  return `ERROR: <input>:1:${column}: ${reasonOf(code, text)}\n | ${source}\n | ${'.'.repeat(place)}^`;
}

/** Where the arrow points: at the operator, the dot or the parenthesis, not at where the whole begins. */
function placeOf(source: string, node: Node | undefined): number | undefined {
  if (!node) return undefined;
  const args = Array.isArray(node.args) ? (node.args as unknown[]) : [];
  const left = args[0] as { end?: number } | undefined;
  switch (node.op) {
    case '.':
      return source.lastIndexOf('.', node.pos);
    case 'rcall': {
      const receiver = args[1] as { end?: number } | undefined;
      const open = source.indexOf('(', receiver?.end ?? node.pos);
      return open < 0 ? node.pos : open;
    }
    case 'call':
      return source.indexOf('(', node.pos);
    case 'id':
    case undefined:
      return node.pos;
    default:
      if (typeof left?.end !== 'number') return node.pos;
      return left.end + (/^\s*/.exec(source.slice(left.end))?.[0].length ?? 0);
  }
}

const endOfInput =
  "mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

function reasonOf(code: string, text: string): string {
  switch (code) {
    case 'no_such_key':
      return `undefined field '${text.replace('No such key: ', '')}'`;
    case 'unknown_variable':
      return `undeclared reference to '${text.replace('Unknown variable: ', '')}' (in container '')`;
    case 'no_such_overload': {
      const match = /^no such overload: (.+) (\S+) (.+)$/.exec(text);
      if (!match) return text;
      const [, left = '', operator = '', right = ''] = match;
      const name = operators[operator] ?? `_${operator}_`;
      return `found no matching overload for '${name}' applied to '(${typeText(left)}, ${typeText(right)})'`;
    }
    case 'no_matching_overload': {
      const name = /'(?:.*\.)?(\w+)\(/.exec(text)?.[1] ?? '';
      return `undeclared reference to '${name}' (in container '')`;
    }
    case 'incompatible_ternary_branches': {
      const [, left = '', right = ''] = /'(.+)' and '(.+)'/.exec(text) ?? [];
      return `found no matching overload for '_?_:_' applied to '(bool, ${typeText(left)}, ${typeText(right)})'`;
    }
    case 'unexpected_token':
      return `Syntax error: ${text === 'Unexpected token: EOF' ? endOfInput : text}`;
    default:
      return text;
  }
}

/** `map<string, int>` is `map(string, int)` there. */
function typeText(type: string): string {
  return type
    .replace(/^dyn<(.*)>$/, '$1')
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration')
    .replaceAll('optional<', 'optional_type<')
    .replaceAll('<', '(')
    .replaceAll('>', ')')
    .replace(/object\d+/g, 'object');
}
