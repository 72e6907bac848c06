/** A pod's status, computed whole from what is observed. Pure. */
import type { ContainerStatus, PodStatus } from '@hutch/kube-meta';
import type { Exit } from '../containers/runtime.ts';
import { type ContainerView, isFinished, type Observed, restartAt, shouldRestart } from './decide.ts';

export interface StatusInput extends Observed {
  readonly podIp?: string | undefined;
  readonly hostIp: string;
  readonly startTime: string;
  /** What was reported last: the times of conditions that did not turn are kept. */
  readonly before?: PodStatus | undefined;
  readonly runtimeName: string;
  readonly containerId: (name: string, attempt: number) => string;
  /** Why set-up has not succeeded so far. */
  readonly trouble?: { readonly reason: string; readonly message: string } | undefined;
}

type PodCondition = NonNullable<PodStatus['conditions']>[number];
type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** Kubernetes keeps whole seconds. */
export function timeText(date: Date | string): string {
  return new Date(date).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function desiredStatus(input: StatusInput, now: Date): PodStatus {
  const { pod, refusal } = input;
  const phase = phaseOf(input);
  const unready = input.containers.filter(({ state }) => !(state.type === 'running' && state.isReady));
  const containersReady = refusal === undefined && unready.length === 0;
  const gatesReady = (pod.spec.readinessGates ?? []).every(({ conditionType }) =>
    pod.status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  const isDone = phase === 'Succeeded' || phase === 'Failed';
  const why = isDone
    ? { reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' }
    : {
        reason: 'ContainersNotReady',
        message: `containers with unready status: [${unready.map(({ name }) => name).join(' ')}]`,
      };
  const gateWhy = { reason: 'ReadinessGatesNotReady', message: 'a readiness gate is not true' };
  const condition = conditionMaker(input.before ?? pod.status, now);
  const own = [
    condition('PodScheduled', true),
    condition('Initialized', true),
    condition('ContainersReady', containersReady, why),
    condition('Ready', containersReady && gatesReady, containersReady ? gateWhy : why),
  ];
  const foreign = (pod.status?.conditions ?? []).filter(
    ({ type }) => !own.some((mine) => mine.type === type),
  );
  return {
    phase,
    ...(refusal ? { reason: refusal.reason, message: refusal.message } : {}),
    conditions: [...own, ...foreign],
    hostIP: input.hostIp,
    hostIPs: [{ ip: input.hostIp }],
    ...(input.podIp === undefined ? {} : { podIP: input.podIp, podIPs: [{ ip: input.podIp }] }),
    startTime: input.startTime,
    containerStatuses: input.containers.map((view) => desiredContainerStatus(view, input, now)),
  };
}

function phaseOf(input: StatusInput): Phase {
  if (input.refusal) return 'Failed';
  if (isFinished(input)) {
    const ok = input.containers.every(({ state }) => state.type === 'exited' && state.exit.exitCode === 0);
    return ok ? 'Succeeded' : 'Failed';
  }
  return input.containers.some(({ state, attempt }) => state.type !== 'absent' || attempt > 0)
    ? 'Running'
    : 'Pending';
}

/** The time of a condition moves only when its status does. */
function conditionMaker(last: PodStatus | undefined, now: Date) {
  return (type: string, isTrue: boolean, why?: { reason: string; message?: string }): PodCondition => {
    const status = isTrue ? 'True' : 'False';
    const before = last?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime =
      before?.status === status && before.lastTransitionTime ? before.lastTransitionTime : timeText(now);
    return { type, status, lastTransitionTime, ...(isTrue ? {} : why) };
  };
}

function desiredContainerStatus(view: ContainerView, input: StatusInput, now: Date): ContainerStatus {
  const { name, attempt, state, previous } = view;
  const id = `${input.runtimeName}://${input.containerId(name, attempt)}`;
  const image = input.pod.spec.containers.find((container) => container.name === name)?.image ?? '';
  const willRestart =
    state.type === 'exited' && !input.refusal && !isStopping(input) && shouldRestart(input.pod, state.exit);
  const shown = willRestart ? backoffState(view, state.exit, now) : stateOf(view, input, id);
  const last = willRestart ? state.exit : previous;
  return {
    name,
    image,
    imageID: image,
    ...(state.type === 'absent' ? {} : { containerID: id }),
    ready: state.type === 'running' && state.isReady,
    started: state.type === 'running',
    restartCount: attempt,
    state: shown,
    ...(last ? { lastState: { terminated: terminated(last) } } : {}),
  };
}

function isStopping({ pod, isGone }: Observed): boolean {
  return isGone || pod.metadata.deletionTimestamp !== undefined;
}

function stateOf(
  { state }: ContainerView,
  input: StatusInput,
  id: string,
): NonNullable<ContainerStatus['state']> {
  switch (state.type) {
    case 'running':
      return { running: { startedAt: timeText(state.startedAt) } };
    case 'exited':
      return { terminated: { ...terminated(state.exit), containerID: id } };
    case 'absent':
      return { waiting: input.refusal ?? input.trouble ?? { reason: 'ContainerCreating' } };
  }
}

function backoffState(
  { name, crashes }: ContainerView,
  exit: Exit,
  now: Date,
): NonNullable<ContainerStatus['state']> {
  const waitMs = restartAt(exit, crashes).getTime() - now.getTime();
  if (waitMs <= 0) return { waiting: { reason: 'ContainerCreating' } };
  const until = timeText(restartAt(exit, crashes));
  return {
    waiting: {
      reason: 'CrashLoopBackOff',
      message: `container ${name} ended too soon; next start at ${until}`,
    },
  };
}

function terminated(exit: Exit) {
  const { exitCode, isOutOfMemory, startedAt, finishedAt, problem } = exit;
  const ownReason = exitCode === 0 ? 'Completed' : isOutOfMemory ? 'OOMKilled' : 'Error';
  return {
    exitCode,
    ...(exitCode > 128 && !problem ? { signal: exitCode - 128 } : {}),
    reason: problem?.reason ?? ownReason,
    ...(problem ? { message: problem.message } : {}),
    startedAt: timeText(startedAt),
    finishedAt: timeText(finishedAt),
  };
}
