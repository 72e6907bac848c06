/**
 * The life of one pod as a decision: from what is there now to what to do next. No await, no clock, no client.
 *
 * A pod is set up, its containers are started and restarted by policy; when it is to go (deleted, or gone from
 * the API) they are asked to end, then made to, then all is torn down and the object released.
 */
import { isTerminating, type Pod } from '@hutch/kube-meta';
import type { Exit, KillSignal } from '../containers/runtime.ts';
import type { Refusal } from './refusal.ts';

type ContainerState =
  | { readonly type: 'absent' }
  | { readonly type: 'running'; readonly startedAt: string; readonly isReady: boolean }
  | { readonly type: 'exited'; readonly exit: Exit };

export interface ContainerView {
  readonly name: string;
  /** Counts starts from zero; of the start that `state` speaks of. */
  readonly attempt: number;
  readonly state: ContainerState;
  /** The end before this start. */
  readonly previous?: Exit | undefined;
  /** Ends in a row that came too soon, the last one included. */
  readonly crashes: number;
}

export interface Observed {
  readonly pod: Pod;
  /** The API no longer has the object: nobody is waiting, nothing can be reported. */
  readonly isGone: boolean;
  /** Its status was final when this agent first saw it. */
  readonly isOver: boolean;
  readonly refusal?: Refusal | undefined;
  /** Whether network and files are there. */
  readonly isSetUp: boolean;
  readonly containers: readonly ContainerView[];
  /** Since when the containers have been asked to end, and how strongly by now. */
  readonly stopping?: { readonly since: Date; readonly signal: KillSignal } | undefined;
  /** After a failed step: not before this. What failed on the way up does not hold up the way down. */
  readonly retry?: { readonly at: Date; readonly isOfEnd: boolean } | undefined;
}

export type Action =
  | { readonly type: 'set-up' }
  | { readonly type: 'start'; readonly container: string; readonly attempt: number }
  /** To all that run. */
  | { readonly type: 'stop'; readonly signal: KillSignal }
  /** Everything but output and exit statuses. */
  | { readonly type: 'tear-down' }
  | { readonly type: 'release-object' }
  /** The last trace; the pod's life here is over. */
  | { readonly type: 'forget' };

export interface Decision {
  readonly actions: readonly Action[];
  /** When to look again if nothing happens first. */
  readonly wakeAfterMs?: number | undefined;
}

const nothing: Decision = { actions: [] };
const defaultGraceSeconds = 30;
const firstBackoffMs = 10_000;
const maxBackoffMs = 300_000;
/** A container that lasted this long is not in a crash loop. */
const stableMs = 600_000;

export function decide(observed: Observed, now: Date): Decision {
  const isEnd = isEnding(observed);
  const waitMs = observed.retry?.isOfEnd === isEnd ? observed.retry.at.getTime() - now.getTime() : 0;
  if (waitMs > 0) return { actions: [], wakeAfterMs: waitMs };
  if (isEnd) return decideEnd(observed, now);
  if (observed.isOver || observed.refusal || isFinished(observed)) {
    return observed.isSetUp ? { actions: [{ type: 'tear-down' }] } : nothing;
  }
  return decideRun(observed, now);
}

/** Nobody wants the pod any more. */
export function isEnding({ pod, isGone }: Pick<Observed, 'pod' | 'isGone'>): boolean {
  return isGone || isTerminating(pod);
}

function decideRun({ pod, isSetUp, containers }: Observed, now: Date): Decision {
  const actions: Action[] = isSetUp ? [] : [{ type: 'set-up' }];
  let wakeAfterMs: number | undefined;
  for (const { name, attempt, state, crashes } of containers) {
    if (state.type === 'absent') actions.push({ type: 'start', container: name, attempt });
    if (state.type !== 'exited' || !shouldRestart(pod, state.exit)) continue;
    const waitMs = restartAt(state.exit, crashes).getTime() - now.getTime();
    if (waitMs <= 0) actions.push({ type: 'start', container: name, attempt: attempt + 1 });
    else wakeAfterMs = Math.min(waitMs, wakeAfterMs ?? waitMs);
  }
  return { actions, wakeAfterMs };
}

function decideEnd(observed: Observed, now: Date): Decision {
  if (observed.containers.some(({ state }) => state.type === 'running')) return decideStop(observed, now);
  return {
    actions: [
      ...(observed.isSetUp ? [{ type: 'tear-down' } as const] : []),
      ...(observed.isGone ? [] : [{ type: 'release-object' } as const]),
      { type: 'forget' },
    ],
  };
}

function decideStop({ pod, isGone, stopping }: Observed, now: Date): Decision {
  if (stopping?.signal === 'SIGKILL') return nothing; // nothing stronger is left; its end will wake us
  const graceMs = isGone ? 0 : graceSeconds(pod) * 1000;
  if (!stopping && graceMs > 0) return { actions: [{ type: 'stop', signal: 'SIGTERM' }] };
  const leftMs = (stopping?.since.getTime() ?? 0) + graceMs - now.getTime();
  return leftMs > 0
    ? { actions: [], wakeAfterMs: leftMs }
    : { actions: [{ type: 'stop', signal: 'SIGKILL' }] };
}

function graceSeconds({ metadata, spec }: Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
}

export function shouldRestart(pod: Pod, exit: Exit): boolean {
  switch (pod.spec.restartPolicy ?? 'Always') {
    case 'Never':
      return false;
    case 'OnFailure':
      return exit.exitCode !== 0;
    case 'Always':
      return true;
  }
}

/** Every container has ended and none will be started again. */
export function isFinished({ pod, containers }: Pick<Observed, 'pod' | 'containers'>): boolean {
  return (
    containers.length > 0 &&
    containers.every(({ state }) => state.type === 'exited' && !shouldRestart(pod, state.exit))
  );
}

/** The first restart is immediate, later ones wait twice as long each. */
export function restartAt(exit: Exit, crashes: number): Date {
  const waitMs = crashes <= 1 ? 0 : Math.min(firstBackoffMs * 2 ** (crashes - 2), maxBackoffMs);
  return new Date(new Date(exit.finishedAt).getTime() + waitMs);
}

export function isCrash(exit: Exit): boolean {
  return new Date(exit.finishedAt).getTime() - new Date(exit.startedAt).getTime() < stableMs;
}
