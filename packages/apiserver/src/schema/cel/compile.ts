/**
 * Rules of a schema (`x-kubernetes-validations`), made ready to run.
 *
 * When a definition is made, a rule is checked against the types of its schema (`checkRule`); after that it is only
 * run (`compiledRules`). A rule sees the value it is about as `self` and the one that is replaced as `oldSelf`.
 */
import { Environment } from '@marcbachmann/cel-js';
import { regExpOf } from '../re2.ts';
import type { Rule, Schema } from '../schema.ts';
import { needsWatch } from '../time-box.ts';
import { explained } from './explain.ts';
import { registerLibrary } from './library/index.ts';
import { matchesName } from './library/strings.ts';
import { declareType } from './types.ts';

const options = {
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 10_000, maxDepth: 100 },
};

const library = registerLibrary(new Environment(options));
/** Where rules run: values carry their types with them. */
const running = library.clone().registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');
const runningOptional = library
  .clone()
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'optional<dyn>');

export interface CompiledRule {
  readonly rule: Rule;
  readonly usesOldSelf: boolean;
  readonly run: (context: Context) => unknown;
  readonly message: ((context: Context) => unknown) | undefined;
}

interface Context {
  readonly self: unknown;
  readonly oldSelf?: unknown;
}

const made = new WeakMap<Schema, readonly CompiledRule[]>();

/** A rule that does not compile throws when it is run: definitions with such a rule are refused, so none should. */
export function compiledRules(schema: Schema): readonly CompiledRule[] {
  const { 'x-kubernetes-validations': rules = [] } = schema;
  if (rules.length === 0) return [];
  const known = made.get(schema);
  if (known) return known;
  const compiled = rules.map(compiledRule);
  made.set(schema, compiled);
  return compiled;
}

function compiledRule(rule: Rule): CompiledRule {
  const { messageExpression } = rule;
  const env = rule.optionalOldSelf ? runningOptional : running;
  return {
    rule,
    usesOldSelf: usesOldSelf(rule.rule),
    run: lazily(env, rule.rule),
    message: messageExpression === undefined ? undefined : lazily(env, messageExpression),
  };
}

function lazily(env: Environment, expression: string): (context: Context) => unknown {
  const loops = hasLoops(expression);
  let parsed: ((context: Context) => unknown) | undefined;
  return (context) => {
    if (loops) needsWatch();
    parsed ??= env.parse(prepared(expression)) as (context: Context) => unknown;
    return parsed(context);
  };
}

/** Code outside of text literals: what is looked for in an expression must not be found inside a string. */
function bare(expression: string): string {
  return expression.replace(
    /r?("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/g,
    (text) => ' '.repeat(text.length),
  );
}

/** The language's own `matches` takes another syntax. Ours has a name of the same length, so places stay true. */
function prepared(expression: string): string {
  const code = bare(expression);
  let result = expression;
  for (const { index } of code.matchAll(/\.\s*matches\s*\(/g)) {
    const at = code.indexOf('matches', index);
    result = result.slice(0, at) + matchesName + result.slice(at + matchesName.length);
  }
  return result;
}

export function usesOldSelf(expression: string): boolean {
  return /\boldSelf\b/.test(bare(expression));
}

/** Loops inside loops can take any time. (Patterns look after themselves.) */
function hasLoops(expression: string): boolean {
  return (bare(expression).match(/\.\s*(all|exists|exists_one|map|filter)\s*\(/g) ?? []).length > 1;
}

/** What a compiler says of a rule, or nothing. */
export interface Verdict {
  readonly rule?: string | undefined;
  readonly messageExpression?: string | undefined;
}

/** Checks rules of a schema against the types it declares. */
export function ruleChecker(schema: Schema, isRoot: boolean): (rule: Rule) => Verdict {
  const env = library.clone();
  const type = declareType(env, schema, isRoot);
  const plain = env.clone().registerVariable('self', type).registerVariable('oldSelf', type);
  const optional = env
    .clone()
    .registerVariable('self', type)
    .registerVariable('oldSelf', `optional<${type}>`);
  return (rule) => {
    const scope = rule.optionalOldSelf ? optional : plain;
    return {
      rule: expressionProblem(scope, rule.rule, {
        type: 'bool',
        else: 'cel expression must evaluate to a bool',
      }),
      messageExpression:
        rule.messageExpression === undefined
          ? undefined
          : expressionProblem(scope, rule.messageExpression, {
              type: 'string',
              else: 'messageExpression must evaluate to a string',
              prefix: 'messageExpression ',
            }),
    };
  };
}

interface Wanted {
  readonly type: string;
  readonly else: string;
  readonly prefix?: string;
}

function expressionProblem(env: Environment, expression: string, wanted: Wanted): string | undefined {
  const failed = (why: string) => `${wanted.prefix ?? ''}compilation failed: ${why}`;
  const pattern = patternProblem(expression);
  if (pattern !== undefined) return failed(pattern);
  const absent = absentField(env, expression);
  if (absent !== undefined) return failed(absent);
  const result = env.check(prepared(expression));
  if (!result.valid) return failed(explained(expression, result.error));
  const isRight = result.type === wanted.type || result.type === 'dyn';
  return isRight ? undefined : wanted.else;
}

/** `has` of a field there is not: the evaluator would only ever say no. */
function absentField(env: Environment, expression: string): string | undefined {
  for (const { index, 0: call, 1: path = '' } of bare(expression).matchAll(
    /\bhas\s*\(\s*((?:self|oldSelf)(?:\.\w+)+)\s*\)/g,
  )) {
    const result = env.check(path);
    const { code, summary = '' } = (result.error ?? {}) as { code?: string; summary?: string };
    if (result.valid || code !== 'no_such_key') continue;
    const place = index + call.indexOf('(');
    const field = summary.replace('No such key: ', '');
    return `ERROR: <input>:1:${place + 1}: undefined field '${field}'\n | ${expression}\n | ${'.'.repeat(place)}^`;
  }
  return undefined;
}

/** A pattern that is written out is compiled now rather than at every write. */
function patternProblem(expression: string): string | undefined {
  for (const match of expression.matchAll(
    /\.\s*matches\s*\(\s*(r?)("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')\s*\)/g,
  )) {
    const [whole, raw, literal = ''] = match;
    const text = literal.slice(1, -1);
    try {
      regExpOf(raw === 'r' ? text : text.replace(/\\(.)/g, '$1'));
    } catch {
      const place = (match.index ?? 0) + whole.indexOf(literal);
      return `ERROR: <input>:1:${place + 1}: invalid matches argument\n | ${expression}\n | ${'.'.repeat(place)}^`;
    }
  }
  return undefined;
}
