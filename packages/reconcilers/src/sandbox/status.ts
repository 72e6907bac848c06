/** A sandbox's status, computed whole from the world and then compared. Reasons are API; so are most messages. */
import {
  type ConditionDraft,
  findCondition,
  removeCondition,
  type Sandbox,
  type SandboxConditionType,
  type SandboxReason,
  type SandboxStatus,
  shouldRun,
  trackingSelector,
  upsertCondition,
} from '@hutch/api';
import { type Condition, isTerminating, jsonEquals, type Pod } from '@hutch/kube-meta';
import type { Backing } from './backing.ts';

/** Why a sandbox does not get what it asks for. `InvalidConfiguration` is for what only its user can mend. */
export interface Trouble {
  readonly reason: 'ReconcilerError' | 'InvalidConfiguration';
  readonly message: string;
}

export interface World {
  readonly backing: Backing;
  readonly trouble?: Trouble | undefined;
}

/** What a condition says, before type and generation are added. */
interface Saying {
  readonly status: Condition['status'];
  readonly reason: SandboxReason;
  readonly message: string;
}

export function desiredStatus(sandbox: Sandbox, world: World, now: Date): SandboxStatus {
  const before = sandbox.status ?? {};
  const { backing } = world;
  const pod = backing.type === 'owned' ? backing.pod : undefined;
  const isSeen = pod !== undefined || (backing.type === 'not-ours' && !shouldRun(sandbox));
  // The address of a pod that is going may soon be another pod's.
  const podIPs = pod && !isTerminating(pod) ? addressesOf(pod) : [];
  const selector = isSeen ? trackingSelector(sandbox.metadata.name) : before.selector;
  return {
    conditions: conditionsOf(sandbox, now, [
      ['Suspended', suspended(sandbox, backing)],
      ['Finished', pod && finished(pod)],
      ['PodScheduled', podScheduled(sandbox, world)],
      ['Ready', ready(sandbox, world)],
    ]),
    ...(selector ? { selector } : {}),
    ...(before.service ? { service: before.service } : {}),
    ...(before.serviceFQDN ? { serviceFQDN: before.serviceFQDN } : {}),
    ...(podIPs.length > 0 ? { podIPs } : {}),
    ...(pod?.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
  };
}

/** After its shutdown time a sandbox is only its conditions. That it finished before stays known. */
export function expiredStatus(sandbox: Sandbox, backing: Backing, now: Date): SandboxStatus {
  const before = sandbox.status?.conditions;
  const finishedBefore = findCondition(before, 'Finished');
  const pod = backing.type === 'owned' ? backing.pod : undefined;
  const conditions = conditionsOf(sandbox, now, [
    // Said again for this generation if it was ever said; a sandbox that never lived has nothing to say.
    ['Suspended', findCondition(before, 'Suspended') && suspended(sandbox, backing)],
    ['Finished', (pod && finished(pod)) ?? (finishedBefore as Saying | undefined)],
    ['PodScheduled', undefined],
    ['Ready', { status: 'False', reason: 'SandboxExpired', message: 'Sandbox has expired' }],
  ]);
  return { conditions };
}

function conditionsOf(
  sandbox: Sandbox,
  now: Date,
  sayings: readonly (readonly [SandboxConditionType, Saying | undefined])[],
): readonly Condition[] {
  let conditions = sandbox.status?.conditions ?? [];
  for (const [type, saying] of sayings) {
    if (!saying) {
      conditions = removeCondition(conditions, type);
      continue;
    }
    const { status, reason, message } = saying;
    const { generation } = sandbox.metadata;
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    const draft: ConditionDraft = { type, status, reason, message: clip(message), ...observed };
    conditions = upsertCondition(conditions, draft, now);
  }
  return conditions;
}

const succeeded = { reason: 'PodSucceeded', message: 'Pod completed successfully' } as const;
/** Why it failed stands on the pod, which few who read a sandbox can see: so it is said here too. */
function failed({ status }: Pod): Saying {
  const why = status?.message ? `: ${status.message}` : '';
  return { status: 'False', reason: 'PodFailed', message: `Pod failed${why}` };
}

function ready(sandbox: Sandbox, { backing, trouble }: World): Saying {
  const no = (reason: SandboxReason, message: string): Saying => ({ status: 'False', reason, message });
  if (backing.type === 'several') {
    return no('MultiplePods', `multiple Pods (${backing.count}) are controlled by this Sandbox`);
  }
  if (trouble?.reason === 'InvalidConfiguration') return no(trouble.reason, trouble.message);
  if (trouble) return no(trouble.reason, `Error seen: ${trouble.message}`);
  const isPodThere = backing.type === 'owned' || backing.type === 'not-ours';
  if (!shouldRun(sandbox)) {
    return no('SandboxSuspended', isPodThere ? 'Sandbox is suspending' : 'Sandbox is suspended');
  }
  if (backing.type !== 'owned') return no('DependenciesNotReady', 'Pod does not exist');

  const { pod } = backing;
  // Before success and failure: a pod that goes is replaced, so what became of it is not the last word.
  if (isTerminating(pod)) return no('DependenciesNotReady', 'Pod is terminating');
  const { phase } = pod.status ?? {};
  if (phase === 'Succeeded') return { status: 'False', ...succeeded };
  if (phase === 'Failed') return failed(pod);
  if (phase !== 'Running')
    return no('DependenciesNotReady', `Pod exists with phase: ${phase ?? ''}${waitingFor(pod)}`);
  if (podCondition(pod, 'Ready')?.status !== 'True') {
    return no('DependenciesNotReady', 'Pod is Running but not Ready');
  }
  if (addressesOf(pod).length === 0) return no('DependenciesNotReady', 'Pod is Ready but has no podIPs yet');
  return { status: 'True', reason: 'DependenciesReady', message: 'Pod is Ready' };
}

/** What keeps a container from starting, when that is more than that it has not begun yet. */
function waitingFor({ status }: Pod): string {
  for (const { state } of status?.containerStatuses ?? []) {
    const { reason, message } = state?.waiting ?? {};
    if (reason && message) return `: ${reason}: ${message}`;
  }
  return '';
}

function suspended(sandbox: Sandbox, backing: Backing): Saying {
  if (shouldRun(sandbox)) {
    return { status: 'False', reason: 'NotSuspended', message: 'Sandbox is not suspended' };
  }
  switch (backing.type) {
    case 'absent':
      return {
        status: 'True',
        reason: 'PodTerminated',
        message: 'Pod has been terminated. Sandbox is suspended',
      };
    case 'owned':
      return {
        status: 'False',
        reason: 'PodTerminating',
        message: 'Pod is terminating. Sandbox is suspending',
      };
    case 'not-ours':
      return {
        status: 'False',
        reason: 'PodNotOwned',
        message: 'A Pod with this name is not controlled by the Sandbox and was not deleted',
      };
    case 'several':
    case 'unknown':
      return {
        status: 'Unknown',
        reason: 'PodStateUnknown',
        message: 'Pod state could not be determined, so suspension cannot be confirmed',
      };
  }
}

function finished(pod: Pod): Saying | undefined {
  if (pod.status?.phase === 'Succeeded') return { status: 'True', ...succeeded };
  if (pod.status?.phase === 'Failed') return { ...failed(pod), status: 'True' };
  return undefined;
}

/** The form a condition's reason must have; a scheduler's word that has another would fail every status write. */
const reasonForm = /^[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/;

function podScheduled(sandbox: Sandbox, { backing, trouble }: World): Saying | undefined {
  if (backing.type === 'owned') return mirroredScheduling(backing.pod);
  const isDoubtful = backing.type === 'several' || backing.type === 'unknown';
  if (!isDoubtful && !(trouble && shouldRun(sandbox))) return undefined;
  return {
    status: 'Unknown',
    reason: 'PodSchedulingUnknown',
    message: 'Pod scheduling could not be determined',
  };
}

function mirroredScheduling(pod: Pod): Saying {
  const found = podCondition(pod, 'PodScheduled');
  if (!found) {
    return {
      status: 'Unknown',
      reason: 'PodSchedulingUnknown',
      message: 'Pod has not reported a PodScheduled condition yet',
    };
  }
  const fallback: SandboxReason = found.status === 'True' ? 'PodScheduled' : 'PodSchedulingUnknown';
  const reason = found.reason && reasonForm.test(found.reason) ? found.reason : fallback;
  return {
    status: found.status as Condition['status'],
    reason: reason as SandboxReason, // the scheduler's own word
    message: found.message ?? '',
  };
}

function podCondition(pod: Pod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

function addressesOf(pod: Pod): string[] {
  return (pod.status?.podIPs ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
}

/** The schema allows 32768; nobody reads more than this, and every watcher would be sent it. */
const longestMessage = 1024;

function clip(message: string): string {
  return message.length <= longestMessage ? message : `${message.slice(0, longestMessage - 1)}…`;
}

/** Whether `after` tells of nothing but the usual steps of a start: scheduled, addressed, running. */
export function isOnlyProgress(before: SandboxStatus | undefined, after: SandboxStatus): boolean {
  if (before === undefined) return false;
  const was = findCondition(before.conditions, 'Ready');
  const is = findCondition(after.conditions, 'Ready');
  if (was?.reason !== 'DependenciesNotReady' || is?.reason !== 'DependenciesNotReady') return false;
  return jsonEquals(withoutProgress(before), withoutProgress(after));
}

function withoutProgress({ nodeName: _node, podIPs: _ips, conditions = [], ...rest }: SandboxStatus) {
  const kept = conditions.flatMap(({ lastTransitionTime, ...condition }) => {
    if (condition.type === 'Ready') return [{ ...condition, message: '' }];
    const isUsual = condition.status === 'True' || condition.reason === 'PodSchedulingUnknown';
    if (condition.type === 'PodScheduled' && isUsual) return [];
    return [{ ...condition, lastTransitionTime }];
  });
  return { ...rest, conditions: kept };
}
