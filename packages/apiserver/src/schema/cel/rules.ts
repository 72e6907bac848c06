/** Asks every rule of a schema about the value it stands at. */
import { isFault } from '@hutch/base';
import { jsonEquals } from '@hutch/kube-meta';
import { Optional } from '@marcbachmann/cel-js';
import { isObject } from '../../json.ts';
import { invalidValue, type Problem } from '../../problems.ts';
import { allSchemas, memberSchema, type Rule, type Schema } from '../schema.ts';
import { asksForWatch, withinTime } from '../time-box.ts';
import { correlated, joined } from '../validate.ts';
import { type CompiledRule, compiledRules } from './compile.ts';
import { celValue } from './values.ts';

/** How long all rules and patterns of one object may take together. */
const budgetMs = 250;

interface Node {
  readonly value: unknown;
  /** What is replaced, if that can be told; undefined otherwise. */
  readonly old: unknown;
  readonly schema: Schema;
  readonly path: string;
  readonly isRoot: boolean;
}

export function ruleProblems(value: unknown, schema: Schema, old: unknown): Problem[] {
  const problems = visited({ value, old, schema, path: '', isRoot: true });
  return problems.map((problem) => (problem.field === '' ? { ...problem, field: '<nil>' } : problem));
}

function visited(node: Node): Problem[] {
  if (!hasRules(node.schema)) return [];
  return [...ownProblems(node), ...children(node).flatMap(visited)];
}

function children({ value, old, schema, path }: Node): Node[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return [];
    const before = correlated(schema, old);
    return value.map((item: unknown, at) => ({
      value: item,
      old: before(item),
      schema: items,
      path: `${path}[${at}]`,
      isRoot: false,
    }));
  }
  if (!isObject(value)) return [];
  const before = isObject(old) ? old : {};
  return Object.keys(value).flatMap((key) => {
    const known = memberSchema(schema, key);
    if (!known || value[key] === undefined) return [];
    const oldMember = Object.hasOwn(before, key) ? before[key] : undefined;
    return { value: value[key], old: oldMember, schema: known, path: joined(path, key), isRoot: false };
  });
}

function ownProblems(node: Node): Problem[] {
  const { value, old, schema, isRoot } = node;
  const rules = compiledRules(schema);
  if (rules.length === 0 || value === null || value === undefined) return [];
  const hasOld = old !== undefined && old !== null;
  const isUnchanged = hasOld && jsonEquals(value, old);
  const asked = rules.filter(({ rule, usesOldSelf }) => {
    if (usesOldSelf) return hasOld || rule.optionalOldSelf;
    return !isUnchanged; // it was so before, whatever the rule thinks of it now
  });
  if (asked.length === 0) return [];
  const self = celValue(value, schema, isRoot);
  const oldSelf = hasOld ? celValue(old, schema, isRoot) : undefined;
  const optional = hasOld ? Optional.of(oldSelf) : Optional.none();
  return asked.flatMap((compiled) =>
    answered(compiled, node, { self, oldSelf: compiled.rule.optionalOldSelf ? optional : oldSelf }),
  );
}

function answered(
  compiled: CompiledRule,
  node: Node,
  context: { self: unknown; oldSelf: unknown },
): Problem[] {
  const { rule } = compiled;
  try {
    if (compiled.run(context) === true) return [];
  } catch (err) {
    if (asksForWatch(err)) throw err;
    const reason = (err as { summary?: string }).summary ?? (err as Error).message;
    const type = node.schema.type ?? '';
    return [invalidValue(node.path, type, `${spoken(reason)} ${ruleText(rule)}`)];
  }
  return [failure(rule, node, messageOf(compiled, context))];
}

/** What went wrong, in the words of Kubernetes' own evaluator. */
function spoken(reason: string): string {
  if (reason.startsWith('no such overload')) {
    return "'no such overload': call arguments did not match a supported operator, function or macro signature for rule:";
  }
  return `${reason.replace(/^No such key: /, 'no such key: ')} evaluating rule:`;
}

function ruleText({ rule, message = '' }: Rule): string {
  return message.trim() === '' ? rule.trim() : message.trim();
}

function messageOf({ rule, message }: CompiledRule, context: { self: unknown; oldSelf: unknown }): string {
  try {
    const text = message?.(context);
    if (typeof text === 'string' && text.trim() !== '' && !/[\n\r]/.test(text)) return text.trim();
  } catch (err) {
    if (asksForWatch(err)) throw err;
    // A message that cannot be made does not hide what it was about.
  }
  const { message: fixed = '' } = rule;
  return fixed.trim() === '' ? `failed rule: ${rule.rule.trim()}` : fixed.trim();
}

function failure(
  { reason = 'FieldValueInvalid', fieldPath = '' }: Rule,
  node: Node,
  detail: string,
): Problem {
  const field = fieldPath === '' ? node.path : node.path + normalPath(fieldPath);
  const isWhole = node.schema.type === 'object' || node.schema.type === 'array';
  switch (reason) {
    case 'FieldValueRequired':
      return { field, reason, message: `Required value: ${detail}` };
    case 'FieldValueForbidden':
      return { field, reason, message: `Forbidden: ${detail}` };
    case 'FieldValueDuplicate': {
      const shown = isWhole ? '' : `: ${JSON.stringify(node.value)}`;
      return { field, reason, message: `Duplicate value${shown}` };
    }
    default:
      if (isWhole) return { field, reason, message: `Invalid value: ${detail}` };
      return invalidValue(field, node.value, detail);
  }
}

/** `['a']['b']` is `.a.b` in messages. */
function normalPath(path: string): string {
  return path.replace(/\['([^']*)'\]/g, '.$1');
}

// ---- time -----------------------------------------------------------------------------------------------

const outOfTime =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** Does the checks of a schema; those that could hang are ended when their time is over. */
export function checkedInTime(schema: Schema, check: () => Problem[]): Problem[] {
  try {
    return withinTime(check, budgetMs);
  } catch (err) {
    if (!isFault(err, 'timeout')) throw err;
    return [invalidValue('<nil>', schema.type ?? '', outOfTime)];
  }
}

const ruled = new WeakMap<Schema, boolean>();

/** Whether there is a rule somewhere in a schema. */
export function hasRules(schema: Schema): boolean {
  const known = ruled.get(schema);
  if (known !== undefined) return known;
  const has = allSchemas(schema).some((one) => (one['x-kubernetes-validations'] ?? []).length > 0);
  ruled.set(schema, has);
  return has;
}
