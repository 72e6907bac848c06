/**
 * How many pods of a budget may be disrupted now. No await, no clock, no client.
 *
 * The eviction subresource reads the answer and takes from it, so every doubt must end in "none".
 */
import {
  controllerOf,
  isTerminating,
  jsonEquals,
  type OwnerReference,
  type Pod,
  type PodDisruptionBudget,
} from '@hutch/kube-meta';
import { isReady } from '../pods.ts';

type Status = NonNullable<PodDisruptionBudget['status']>;
type Condition = NonNullable<Status['conditions']>[number];

/** A pod whose eviction was granted is expected to be on its way out within this time. */
const deletionTimeoutMs = 2 * 60_000;

export interface Observed {
  readonly budget: PodDisruptionBudget;
  /** Those its selector selects. */
  readonly pods: readonly Pod[];
  /** How many pods a controller means to have; a text says why that cannot be told. */
  readonly scaleOf: (controller: OwnerReference, pod: Pod) => number | string;
}

export interface Decision {
  /** Undefined when what is written already says it all. */
  readonly status: Status | undefined;
  readonly requeueAfterMs?: number | undefined;
  /** Pods nobody manages count for nothing when the budget is a share of what is meant to be. */
  readonly hasUnmanaged: boolean;
}

export function decide(observed: Observed, now: Date): Decision {
  const { budget, pods } = observed;
  const expected = expectedOf(observed);
  if ('failure' in expected) {
    return { status: changed(budget, failedStatus(budget, expected.failure, now)), hasUnmanaged: false };
  }

  const disruptedPods = stillDisrupted(budget, pods, now);
  const isCounted = (pod: Pod) =>
    !isTerminating(pod) && !(pod.metadata.name in disruptedPods) && isReady(pod);
  const currentHealthy = pods.filter(isCounted).length;
  const { expectedPods, desiredHealthy, hasUnmanaged } = expected;
  // Without expected pods the first one to appear must not be fair game before it is counted.
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const observedGeneration = budget.metadata.generation ?? 0;
  const status: Status = {
    ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed,
    observedGeneration,
    conditions: withCondition(
      budget,
      disruptionsAllowed > 0
        ? { status: 'True', reason: 'SufficientPods', message: '', observedGeneration }
        : { status: 'False', reason: 'InsufficientPods', message: '', observedGeneration },
      now,
    ),
  };
  const requeueAfterMs = nextTimeoutMs(Object.values(disruptedPods), now);
  return { status: changed(budget, status), hasUnmanaged, requeueAfterMs };
}

type Expected =
  | { readonly expectedPods: number; readonly desiredHealthy: number; readonly hasUnmanaged: boolean }
  | { readonly failure: string };

function expectedOf({ budget: { spec }, pods, scaleOf }: Observed): Expected {
  const { maxUnavailable, minAvailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expectedPods: pods.length, desiredHealthy: minAvailable, hasUnmanaged: false };
  }
  if (maxUnavailable === undefined && minAvailable === undefined) {
    return { expectedPods: 0, desiredHealthy: 0, hasUnmanaged: false };
  }
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const controller = controllerOf(pod);
    if (!controller || scales.has(controller.uid)) continue;
    const scale = scaleOf(controller, pod);
    if (typeof scale === 'string') return { failure: scale };
    scales.set(controller.uid, scale);
  }
  const expectedPods = [...scales.values()].reduce((sum, scale) => sum + scale, 0);
  const share = scaled(maxUnavailable ?? minAvailable ?? 0, expectedPods);
  if (typeof share === 'string') return { failure: share };
  return {
    expectedPods,
    desiredHealthy: maxUnavailable === undefined ? share : Math.max(0, expectedPods - share),
    hasUnmanaged: pods.some((pod) => !controllerOf(pod)),
  };
}

/** A number, or a share of the whole rounded up. */
function scaled(value: number | string, whole: number): number | string {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return `invalid value for IntOrString: invalid type: string is not a percentage`;
  return Math.ceil((Number(percent) * whole) / 100);
}

/** Evictions that were granted and have not happened yet, unless they are overdue. */
function stillDisrupted(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  now: Date,
): Record<string, string> {
  const granted = Object.entries(budget.status?.disruptedPods ?? {});
  const waiting = new Set(pods.filter((pod) => !isTerminating(pod)).map(({ metadata }) => metadata.name));
  const isDue = (time: string) => Date.parse(time) + deletionTimeoutMs >= now.getTime();
  return Object.fromEntries(granted.filter(([name, time]) => waiting.has(name) && isDue(String(time))));
}

function nextTimeoutMs(times: readonly string[], now: Date): number | undefined {
  if (times.length === 0) return undefined;
  const earliest = Math.min(...times.map((time) => Date.parse(time)));
  return earliest + deletionTimeoutMs - now.getTime() + 1;
}

function failedStatus(budget: PodDisruptionBudget, message: string, now: Date): Status {
  const observedGeneration = budget.status?.observedGeneration ?? 0;
  const condition = { status: 'False', reason: 'SyncFailed', message, observedGeneration } as const;
  const before = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...budget.status };
  return { ...before, disruptionsAllowed: 0, conditions: withCondition(budget, condition, now) };
}

function withCondition(
  { status }: PodDisruptionBudget,
  condition: Omit<Condition, 'type' | 'lastTransitionTime'>,
  now: Date,
): Condition[] {
  const type = 'DisruptionAllowed';
  const before = status?.conditions?.find((each) => each.type === type);
  const lastTransitionTime =
    before?.status === condition.status
      ? before.lastTransitionTime
      : now.toISOString().replace(/\.\d+Z$/, 'Z');
  const others = (status?.conditions ?? []).filter((each) => each.type !== type);
  return [...others, { type, ...condition, lastTransitionTime }];
}

function changed({ status: before }: PodDisruptionBudget, status: Status): Status | undefined {
  return jsonEquals(before, status) ? undefined : status;
}
