/** The row of a pod: what its containers are up to, said in one word. */
import { isTerminating } from '@hutch/kube-meta';
import { isObject, type JsonObject } from '../json.ts';
import type { ApiObject } from '../kinds/kind.ts';
import { ageText } from './age.ts';
import { at, items, text } from './values.ts';

interface ContainerState {
  readonly status: JsonObject;
  readonly isSidecar: boolean;
}

/** What has been learned of a pod from some of its containers. */
interface Summary {
  readonly reason: string | undefined;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: string;
}

export function podCells(pod: ApiObject, now: Date): readonly unknown[] {
  const initNames = items(pod, 'spec.initContainers').filter(isObject);
  const sidecars = new Set(initNames.filter(isSidecar).map(({ name }) => name));
  const total = items(pod, 'spec.containers').length + sidecars.size;

  const states = items(pod, 'status.initContainerStatuses')
    .filter(isObject)
    .map((status): ContainerState => ({ status, isSidecar: sidecars.has(status.name) }));
  const first = initSummary(states, initNames.length);
  const isInitialized = first.reason === undefined || hasCondition(pod, 'Initialized');
  const rest = isInitialized ? mainSummary(pod, states) : undefined;

  const restarts = rest?.restarts ?? first.restarts;
  const lastRestart = rest?.lastRestart ?? first.lastRestart;
  const since = restarts > 0 && lastRestart !== '' ? ` (${ageText(lastRestart, now)} ago)` : '';
  return [
    pod.metadata.name,
    `${first.ready + (rest?.ready ?? 0)}/${total}`,
    whole(pod, rest?.reason ?? first.reason),
    `${restarts}${since}`,
    ageText(pod.metadata.creationTimestamp, now),
    text(at(items(pod, 'status.podIPs')[0], 'ip'), '<none>'),
    text(at(pod, 'spec.nodeName'), '<none>'),
    text(at(pod, 'status.nominatedNodeName'), '<none>'),
    readinessGates(pod),
  ];
}

/** Pods that have ended are shown apart. */
export function podConditions(pod: ApiObject): readonly object[] {
  const completed = (reason: string, message: string) => [
    { type: 'Completed', status: 'True', reason, message },
  ];
  switch (at(pod, 'status.phase')) {
    case 'Succeeded':
      return completed('Succeeded', 'The pod has completed successfully.');
    case 'Failed':
      return completed('Failed', 'The pod failed.');
    default:
      return [];
  }
}

/** The word for the whole pod, where its containers have not said one that counts more. */
function whole(pod: ApiObject, ofContainers: string | undefined): string {
  const phase = text(at(pod, 'status.phase'));
  const own = text(at(pod, 'status.reason'));
  if (isTerminating(pod)) {
    if (own === 'NodeLost') return 'Unknown';
    if (phase !== 'Succeeded' && phase !== 'Failed') return 'Terminating';
  }
  const isGated = items(pod, 'status.conditions').some(
    (condition) => at(condition, 'type') === 'PodScheduled' && at(condition, 'reason') === 'SchedulingGated',
  );
  const reason = ofContainers ?? (isGated ? 'SchedulingGated' : own || phase);
  if (reason !== 'Completed') return reason;
  return completedReason(pod);
}

/** "Completed" of one container is not that of the pod while another still runs or has failed. */
function completedReason(pod: ApiObject): string {
  const statuses = items(pod, 'status.containerStatuses').filter(isObject);
  const isRunning = statuses.some(isReadyAndRunning);
  if (isRunning && hasCondition(pod, 'Ready')) return 'Running';
  const failed = statuses.find(
    (status) => at(status, 'state.terminated') !== undefined && at(status, 'state.terminated.exitCode') !== 0,
  );
  if (failed) return terminatedReason(at(failed, 'state.terminated'));
  return isRunning ? 'NotReady' : 'Completed';
}

function initSummary(states: readonly ContainerState[], total: number): Summary {
  let ready = 0;
  let restarts = 0;
  let lastRestart = '';
  for (const [index, { status, isSidecar: isRestartable }] of states.entries()) {
    restarts += numberOf(status.restartCount);
    lastRestart = later(lastRestart, status);
    const terminated = at(status, 'state.terminated');
    if (terminated !== undefined && at(terminated, 'exitCode') === 0) continue;
    if (isRestartable && status.started === true) {
      if (status.ready === true) ready++;
      continue;
    }
    return { reason: `Init:${initReason(status, `${index}/${total}`)}`, ready, restarts, lastRestart };
  }
  return { reason: undefined, ready, restarts, lastRestart };
}

function initReason(status: JsonObject, progress: string): string {
  const terminated = at(status, 'state.terminated');
  if (terminated !== undefined) return terminatedReason(terminated);
  const waiting = text(at(status, 'state.waiting.reason'));
  return waiting !== '' && waiting !== 'PodInitializing' ? waiting : progress;
}

function mainSummary(pod: ApiObject, inits: readonly ContainerState[]): Summary {
  const sidecars = inits.filter((state) => state.isSidecar).map(({ status }) => status);
  const statuses = items(pod, 'status.containerStatuses').filter(isObject);
  const all = [...sidecars, ...statuses];
  // The first container has the last word.
  const reasons = statuses.map(containerReason).filter((reason) => reason !== undefined);
  return {
    reason: reasons[0],
    ready: statuses.filter(isReadyAndRunning).length,
    restarts: all.reduce((sum, { restartCount }) => sum + numberOf(restartCount), 0),
    lastRestart: all.reduce(later, ''),
  };
}

function containerReason(status: JsonObject): string | undefined {
  const waiting = text(at(status, 'state.waiting.reason'));
  if (waiting !== '') return waiting;
  const terminated = at(status, 'state.terminated');
  return terminated === undefined ? undefined : terminatedReason(terminated);
}

function terminatedReason(terminated: unknown): string {
  const signal = numberOf(at(terminated, 'signal'));
  const fallback = signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberOf(at(terminated, 'exitCode'))}`;
  return text(at(terminated, 'reason'), fallback);
}

function isReadyAndRunning(status: JsonObject): boolean {
  if (text(at(status, 'state.waiting.reason')) !== '' || at(status, 'state.terminated') !== undefined)
    return false;
  return status.ready === true && at(status, 'state.running') !== undefined;
}

function isSidecar(container: JsonObject): boolean {
  return container.restartPolicy === 'Always';
}

function later(known: string, status: JsonObject): string {
  const finished = text(at(status, 'lastState.terminated.finishedAt'));
  return finished > known ? finished : known; // both are UTC to the second: text order is time order
}

function hasCondition(pod: ApiObject, type: string): boolean {
  return items(pod, 'status.conditions').some(
    (condition) => at(condition, 'type') === type && at(condition, 'status') === 'True',
  );
}

function readinessGates(pod: ApiObject): string {
  const gates = items(pod, 'spec.readinessGates').map((gate) => text(at(gate, 'conditionType')));
  if (gates.length === 0) return '<none>';
  return `${gates.filter((gate) => hasCondition(pod, gate)).length}/${gates.length}`;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
