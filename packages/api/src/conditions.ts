/** Conditions as Kubernetes means them: one entry per type, and a time that moves only when the status does. */
import type { Condition } from '@hutch/kube-meta';

/** A condition before it is known whether its status is news. */
export type ConditionDraft = Omit<Condition, 'lastTransitionTime'>;

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** Puts the draft in its type's place, or at the end. `lastTransitionTime` moves only with the status. */
export function upsertCondition(
  conditions: readonly Condition[],
  draft: ConditionDraft,
  now: Date,
): readonly Condition[] {
  const before = findCondition(conditions, draft.type);
  const lastTransitionTime = before?.status === draft.status ? before.lastTransitionTime : timestampText(now);
  const after: Condition = { ...draft, lastTransitionTime };
  return before
    ? conditions.map((condition) => (condition === before ? after : condition))
    : [...conditions, after];
}

export function removeCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.filter((condition) => condition.type !== type);
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timestampText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
