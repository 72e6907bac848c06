/** `pods/eviction`: a deletion that asks the pod's disruption budget first. Decisions only; the server writes. */
import {
  isTerminating,
  type KubeObject,
  type LabelSelectorObject,
  labelSelectorOf,
  matchesLabels,
  type StatusCause,
  statusFault,
} from '@hutch/kube-meta';
import type { Decodable } from '../decode.ts';
import { isObject } from '../json.ts';
import type { ApiObject } from '../kinds/kind.ts';
import { timestamp } from '../metadata.ts';
import { at, items, text } from '../output/values.ts';

export const evictionKind: Decodable = {
  resource: { group: 'policy', version: 'v1', plural: 'evictions', kind: 'Eviction', namespaced: true },
};

export interface Budget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelectorObject; readonly unhealthyPodEvictionPolicy?: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly disruptedPods?: Readonly<Record<string, string>>;
    readonly conditions?: readonly unknown[];
  };
}

/** The budgets that have a say about a pod. */
export function budgetsFor(pod: ApiObject, budgets: readonly Budget[]): Budget[] {
  return budgets.filter(({ spec }) => {
    const selector = labelSelectorOf(spec?.selector);
    return selector !== undefined && matchesLabels(selector, pod.metadata.labels);
  });
}

/** A pod that has not begun, has ended, or is going anyway disrupts nothing. */
export function isFreeToGo(pod: ApiObject): boolean {
  return ['Succeeded', 'Failed', 'Pending'].includes(text(at(pod, 'status.phase'))) || isTerminating(pod);
}

/** A pod that is not ready is no loss to those that are, if these are enough or its budget does not mind. */
export function isNoLoss(pod: ApiObject, { spec, status = {} }: Budget): boolean {
  const isReady = items(pod, 'status.conditions').some(
    (condition) => at(condition, 'type') === 'Ready' && at(condition, 'status') === 'True',
  );
  if (isReady) return false;
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** Too many to be true: the budget's controller does not confirm evictions any more. */
const maxDisruptedPods = 2_000;

/** The budget with one disruption less, or a refusal. */
export function spendDisruption(budget: Budget, pod: ApiObject, now: Date): Budget {
  const { status = {}, metadata } = budget;
  const { disruptionsAllowed: allowed = 0, disruptedPods = {} } = status;
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const why = `The disruption budget ${metadata.name} is still being processed by the server.`;
    throw violation(why, 10);
  }
  if (allowed < 0) throw refusal(budget, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > maxDisruptedPods) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw refusal(budget, why);
  }
  if (allowed === 0) throw violation(whyNot(budget), 0);
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: allowed - 1,
      // Until its controller has seen the pod go, the budget remembers who was let go.
      disruptedPods: { ...disruptedPods, [pod.metadata.name]: timestamp(now) },
      ...(allowed === 1 ? { conditions: withExhausted(budget, now) } : {}),
    },
  };
}

function violation(why: string, retryAfterSeconds: number): Error {
  const causes: StatusCause[] = [{ reason: 'DisruptionBudget', message: why }];
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const retry = retryAfterSeconds > 0 ? { retryAfterSeconds } : {};
  return statusFault('tooManyRequests', message, { causes, ...retry });
}

function refusal({ metadata }: Budget, why: string): Error {
  const message = `poddisruptionbudget.policy "${metadata.name}" is forbidden: ${why}`;
  const details = { name: metadata.name, group: 'policy', kind: 'poddisruptionbudget' };
  return statusFault('forbidden', message, details);
}

function whyNot({ metadata, status = {} }: Budget): string {
  const { currentHealthy = 0, desiredHealthy = 0, conditions = [] } = status;
  const condition = conditions.find((one) => at(one, 'type') === 'DisruptionAllowed');
  const told = at(condition, 'status') === 'False' ? text(at(condition, 'message')) : '';
  const reason = text(at(condition, 'reason'));
  const name = `The disruption budget ${metadata.name}`;
  if (told !== '' && reason === 'SyncFailed') {
    return `${name} does not allow evicting pods currently because it failed sync: ${told}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const tail = told === '' ? '' : ` (${reason}): ${told}`;
  return `${name} does not allow evicting pods currently${tail}`;
}

function withExhausted({ status = {} }: Budget, now: Date): readonly unknown[] {
  const others = (status.conditions ?? []).filter((one) => at(one, 'type') !== 'DisruptionAllowed');
  const exhausted = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
    lastTransitionTime: timestamp(now),
    reason: 'InsufficientPods',
    message: '',
  };
  return [...others, exhausted];
}

/** The pod with a word on why it goes, for whoever owns it. */
export function markedForEviction(pod: ApiObject, now: Date): ApiObject {
  const status = isObject(pod.status) ? pod.status : {};
  const others = items(pod, 'status.conditions').filter((one) => at(one, 'type') !== 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return { ...pod, status: { ...status, conditions: [...others, condition] } };
}
