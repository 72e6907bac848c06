/** Label and field selectors: parsed once, then asked of many objects. A text that is none is an `invalid` fault. */
import { Fault } from '@hutch/base';
import { labelKeyProblems, labelValueProblems } from './names.ts';
import type { StringMap } from './object.ts';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt';
  readonly values: readonly string[];
}

/** Every requirement must hold; an empty selector selects everything. */
export type LabelSelector = readonly LabelRequirement[];

/** A selector as objects carry it, in a spec. */
export interface LabelSelectorObject {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const token = /\s*(==|!=|[=<>!(),]|[^\s=<>!(),]+)\s*/y;

function tokens(text: string): string[] {
  const found: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (!match?.[1]) throw unparsable(`found '${text}'`);
    found.push(match[1]);
  }
  return found;
}

function unparsable(why: string): Fault {
  return new Fault('invalid', `unable to parse requirement: ${why}`);
}

function misplaced(found: string | undefined, expected: string): Fault {
  return new Fault('invalid', `found '${found ?? ''}', expected: ${expected}`);
}

const isWord = (text: string | undefined): text is string => text !== undefined && !/^[=<>!(),]/.test(text);

/** The form of a query: `app=web,tier!=db,env in (a,b),!legacy`. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return [];
  const input = tokens(text);
  const requirements: LabelRequirement[] = [];
  let at = 0;

  const values = (): string[] => {
    if (input[at++] !== '(') throw unparsable(`found '${input[at - 1] ?? ''}' expected: '('`);
    const list: string[] = [];
    for (;;) {
      // An empty place in a list is the empty value: `(a,)` is a or nothing.
      list.push(isWord(input[at]) ? (input[at++] as string) : '');
      const next = input[at++];
      if (next === ')') return list;
      if (next !== ',') throw unparsable(`found '${next ?? ''}', expected: ',' or ')'`);
    }
  };
  const value = (): string => {
    if (input[at] === undefined || input[at] === ',') return '';
    if (!isWord(input[at])) throw unparsable(`found '${input[at]}', expected: identifier`);
    return input[at++] as string;
  };

  if (!isWord(input[0]) && input[0] !== '!') {
    throw misplaced(input[0], "!, identifier, or 'end of string'");
  }
  for (;;) {
    const absent = input[at] === '!';
    if (absent) at++;
    const key = input[at++];
    if (!isWord(key)) throw unparsable(`found '${key ?? ''}', expected: identifier`);
    if (absent) requirements.push(checked({ key, operator: 'absent', values: [] }));
    else requirements.push(checked(afterKey(key)));
    if (at >= input.length) return requirements;
    if (input[at++] !== ',') throw misplaced(input[at - 1], "',' or 'end of string'");
    if (!isWord(input[at]) && input[at] !== '!') throw misplaced(input[at], "identifier after ','");
  }

  function afterKey(key: string): LabelRequirement {
    const operator = input[at];
    if (operator === undefined || operator === ',') return { key, operator: 'exists', values: [] };
    at++;
    switch (operator) {
      case '=':
      case '==':
        return { key, operator: 'in', values: [value()] };
      case '!=':
        return { key, operator: 'notin', values: [value()] };
      case 'in':
      case 'notin':
        return { key, operator, values: values() };
      case '>':
        return { key, operator: 'gt', values: [value()] };
      case '<':
        return { key, operator: 'lt', values: [value()] };
      default:
        throw unparsable(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const isOrder = operator === 'gt' || operator === 'lt';
  const [problem] = [
    ...labelKeyProblems(key).map((why) => `<nil>: Invalid value: ${JSON.stringify(key)}: ${why}`),
    ...values.flatMap((value, index) => {
      const problems = isOrder ? orderProblems(value) : labelValueProblems(value);
      const place = isOrder ? `values[${index}]` : `values[${index}][${key}]`;
      return problems.map((why) => `${place}: Invalid value: ${JSON.stringify(value)}: ${why}`);
    }),
  ];
  if (problem !== undefined) throw unparsable(problem);
  return requirement;
}

function orderProblems(value: string): string[] {
  return /^-?\d+$/.test(value) ? [] : ["for 'Gt', 'Lt' operators, the value must be an integer"];
}

const operators = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: 'absent' } as const;

/** The form of a spec. Nothing at all selects nothing, as in Kubernetes: undefined is answered for it. */
export function labelSelectorOf(object: LabelSelectorObject | undefined): LabelSelector | undefined {
  if (!object) return undefined;
  const equalities = Object.entries(object.matchLabels ?? {}).map(([key, value]) =>
    checked({ key, operator: 'in', values: [value] }),
  );
  const expressions = (object.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    const known = Object.hasOwn(operators, operator)
      ? operators[operator as keyof typeof operators]
      : undefined;
    if (!known) throw new Fault('invalid', `"${operator}" is not a valid label selector operator`);
    if ((known === 'in' || known === 'notin') === (values.length === 0)) {
      const need = values.length === 0 ? 'must be specified' : 'may not be specified';
      throw new Fault('invalid', `values ${need} when \`operator\` is '${operator}'`);
    }
    return checked({ key, operator: known, values });
  });
  return [...equalities, ...expressions];
}

export function matchesLabels(selector: LabelSelector, labels: StringMap | undefined): boolean {
  return selector.every((requirement) => {
    const { key } = requirement;
    return isMet(requirement, labels && Object.hasOwn(labels, key) ? labels[key] : undefined);
  });
}

function isMet({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'gt':
      return isInteger(value) && BigInt(value) > BigInt(values[0] ?? '0');
    case 'lt':
      return isInteger(value) && BigInt(value) < BigInt(values[0] ?? '0');
  }
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^-?\d+$/.test(text);
}

export interface FieldRequirement {
  /** A path such as `metadata.name`. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export type FieldSelector = readonly FieldRequirement[];

/** `metadata.name=a,status.phase!=Running`; a backslash takes the meaning from `,`, `=` and itself. */
export function parseFieldSelector(text: string): FieldSelector {
  return splitUnescaped(text).flatMap((term) => {
    if (term === '') return [];
    const match = /^((?:[^=!\\]|\\.)*?)(==|!=|=)(.*)$/s.exec(term);
    if (!match) {
      throw new Fault('invalid', `invalid selector: '${text}'; can't understand '${term}'`);
    }
    const [, field = '', operator, raw = ''] = match;
    return { field, operator: operator === '!=' ? ('!=' as const) : ('=' as const), value: unescaped(raw) };
  });
}

function splitUnescaped(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function unescaped(text: string): string {
  let plain = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '\\') {
      const next = text[++at];
      if (next !== '\\' && next !== ',' && next !== '=') {
        throw new Fault('invalid', `invalid field selector: invalid escape sequence: \\${next ?? ''}`);
      }
      plain += next;
    } else if (char === '=') {
      throw new Fault('invalid', `invalid field selector: unescaped character '=' in value '${text}'`);
    } else {
      plain += char;
    }
  }
  return plain;
}

export function matchesFields(selector: FieldSelector, object: unknown): boolean {
  return selector.every(
    ({ field, operator, value }) => (fieldText(object, field) === value) === (operator === '='),
  );
}

/** What a field selector compares: the value at a path as text, nothing there is the empty text. */
export function fieldText(object: unknown, path: string): string {
  let value = object;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return '';
    value = (value as Record<string, unknown>)[part];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}
