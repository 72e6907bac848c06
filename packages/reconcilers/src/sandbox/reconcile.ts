/**
 * The sandbox reconciler: reads the caches, asks `decide`, performs the answer, writes the status once.
 *
 * Writes of a cold start: create the pod, say so in the status, say Ready. What happens in between (scheduled,
 * addressed, running) is told with the next of these, or after a short while when the start takes longer.
 *
 * Caches may be behind. A pod that the status speaks of and the cache does not have is looked for on the server
 * before anything is concluded from its absence; a create that finds its name taken does the same. Every write that
 * depends on what was read carries the version or the uid it was read at, and losing such a race is no failure: the
 * change that won it arrives as an event.
 */
import { podNameAnnotation, type Sandbox, sandboxes, shouldRun, timestampText } from '@hutch/api';
import { type Clock, Fault, isFault, messageOf, unreachable } from '@hutch/base';
import type {
  EventNote,
  EventRecorder,
  Informer,
  Reconcile,
  ReconcileContext,
  ReconcileResult,
} from '@hutch/controller';
import { isTerminating, keyOf, keyText, mergeDiff, type Pod, pods as podResource } from '@hutch/kube-meta';
import { type Backing, backingOf } from './backing.ts';
import { type Action, type Decision, decide } from './decide.ts';
import { lifecycleEvents, podCreated, podCreateFailed } from './events.ts';
import { fetchPod, findPods, type PodSources } from './find-pods.ts';
import { OwnWrites } from './own-writes.ts';
import { desiredStatus, expiredStatus, isOnlyProgress, type Trouble } from './status.ts';

export interface SandboxReconcilerDeps extends PodSources {
  readonly sandboxes: Pick<Informer<Sandbox>, 'get'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The name the controller writes its objects under. */
export const fieldManager = 'sandbox-controller';

/** So long may a start take before its steps are written one by one. Ready never waits for this. */
const quietStartMs = 2_000;

/** After a race about a pod that may be none we watch, so that no event would bring us back. */
const lostRaceRetryMs = 100;

export function sandboxReconciler(deps: SandboxReconcilerDeps): Reconcile {
  const ownWrites = new OwnWrites<Sandbox>();
  return async (key, context) => {
    const sandbox = ownWrites.newest(key, deps.sandboxes.get(key));
    if (!sandbox || isTerminating(sandbox)) {
      ownWrites.forget(key); // nothing is owed: children go with their owner
      return {};
    }
    return await new Pass(deps, ownWrites, sandbox, context).run();
  };
}

/** One look at one sandbox. Keeps the world as its own writes have left it, which no cache shows yet. */
class Pass {
  readonly #deps: SandboxReconcilerDeps;
  readonly #ownWrites: OwnWrites<Sandbox>;
  readonly #context: ReconcileContext;
  readonly #now: Date;
  readonly #failures: unknown[] = [];
  #sandbox: Sandbox;
  /** undefined: the server would not say. */
  #pods: readonly Pod[] | undefined = [];
  #trouble: Trouble | undefined;
  #requeueAfterMs = Infinity;
  /** Told only if the status changes with it: a failure that repeats itself is told once. */
  #failureNote: EventNote | undefined;

  constructor(
    deps: SandboxReconcilerDeps,
    ownWrites: OwnWrites<Sandbox>,
    sandbox: Sandbox,
    context: ReconcileContext,
  ) {
    this.#deps = deps;
    this.#ownWrites = ownWrites;
    this.#sandbox = sandbox;
    this.#context = context;
    this.#now = deps.clock.now();
  }

  async run(): Promise<ReconcileResult> {
    try {
      this.#pods = await findPods(this.#sandbox, this.#deps, this.#context.signal);
    } catch (err) {
      this.#context.signal.throwIfAborted();
      this.#fail(err);
      this.#pods = undefined;
    }
    await this.#settle(
      this.#pods ? decide({ sandbox: this.#sandbox, pods: this.#pods }, this.#now) : onlyStatus,
    );
    if (this.#failures.length === 1) throw this.#failures[0];
    if (this.#failures.length > 1) {
      throw new AggregateError(
        this.#failures,
        `reconcile sandbox ${this.#name}: ${this.#failures.map(messageOf)}`,
      );
    }
    return this.#requeueAfterMs === Infinity ? {} : { requeueAfterMs: this.#requeueAfterMs };
  }

  get #name(): string {
    return keyText(keyOf(this.#sandbox));
  }

  async #settle(decision: Decision): Promise<void> {
    this.#trouble ??= decision.trouble;
    this.#lookAgainIn(decision.requeueAfterMs);
    for (const action of decision.actions) {
      try {
        if ((await this.#apply(action, decision)) === 'stop') return;
      } catch (err) {
        this.#context.signal.throwIfAborted();
        this.#fail(err);
      }
    }
  }

  /** `stop`: what follows rests on something that is no longer so. */
  async #apply(action: Action, decision: Decision): Promise<'stop' | undefined> {
    switch (action.type) {
      case 'create-pod':
        return await this.#createPod(action);
      case 'adopt-pod':
      case 'patch-pod':
        return await this.#patchPod(action.pod, action.patch);
      case 'delete-pod':
        return await this.#deletePod(action.pod);
      case 'point-to-pod':
        return await this.#pointToPod(action.podName);
      case 'delete-sandbox':
        return await this.#deleteSandbox();
      case 'write-status':
        return await this.#writeStatus(decision);
      default:
        return unreachable(action);
    }
  }

  async #createPod({ pod }: Action & { type: 'create-pod' }): Promise<'stop' | undefined> {
    const { signal, log } = this.#context;
    try {
      const created = await this.#deps.client.create<Pod>(podResource, pod, { signal, fieldManager });
      log.info('created pod', { pod: created.metadata.name });
      this.#pods = [...(this.#pods ?? []), created];
      this.#deps.recorder.record(this.#sandbox, podCreated(created.metadata.name));
      return undefined;
    } catch (err) {
      if (isFault(err, 'already-exists')) return await this.#meetPodInPlace();
      const message = `create pod for sandbox ${this.#name}: ${messageOf(err)}`;
      this.#failureNote = podCreateFailed(message);
      if (!isFault(err, 'invalid')) throw faultLike(err, message);
      // No retry mends it; an edit of the sandbox brings us back.
      log.warn('pod was refused', { err });
      this.#trouble = { reason: 'InvalidConfiguration', message: messageOf(err) };
      return undefined;
    }
  }

  /** The pod of this name is one the cache does not show: late, or outside what it watches. Decide with it. */
  async #meetPodInPlace(): Promise<'stop'> {
    const pod = await fetchPod(this.#deps.client, keyOf(this.#sandbox), this.#context.signal);
    if (pod) {
      this.#pods = [...(this.#pods ?? []), pod];
      await this.#settle(decide({ sandbox: this.#sandbox, pods: this.#pods }, this.#now));
    } else {
      this.#lookAgainIn(lostRaceRetryMs);
    }
    return 'stop';
  }

  async #patchPod(pod: Pod, patch: object): Promise<'stop' | undefined> {
    const key = keyOf(pod);
    const { signal } = this.#context;
    try {
      const patched = await this.#deps.client.patch<Pod>(podResource, key, patch, { type: 'merge', signal });
      this.#replacePod(pod, patched);
      return undefined;
    } catch (err) {
      if (!isFault(err, 'not-found', 'conflict')) {
        throw faultLike(err, `patch pod ${keyText(key)}: ${messageOf(err)}`);
      }
      this.#lookAgainIn(lostRaceRetryMs);
      return 'stop';
    }
  }

  async #deletePod(pod: Pod): Promise<undefined> {
    const key = keyOf(pod);
    try {
      // The uid guards a namesake created in the meantime.
      await this.#deps.client.delete(podResource, key, {
        uid: pod.metadata.uid,
        signal: this.#context.signal,
      });
      this.#context.log.info('deleted pod', { pod: key.name });
      const deletionTimestamp = timestampText(this.#now);
      this.#replacePod(pod, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
    } catch (err) {
      if (!isFault(err, 'not-found', 'conflict')) {
        throw faultLike(err, `delete pod ${keyText(key)}: ${messageOf(err)}`);
      }
      this.#replacePod(pod, undefined);
    }
  }

  #pointToPod(podName: string | null): Promise<'stop' | undefined> {
    return this.#patchSandbox({ metadata: { annotations: { [podNameAnnotation]: podName } } });
  }

  /**
   * The version makes the server refuse what was computed from an older sandbox, or from a namesake. Then nothing
   * that follows is sound, and nothing is lost: the newer state arrives as an event.
   */
  async #patchSandbox(patch: SandboxPatch, subresource?: 'status'): Promise<'stop' | undefined> {
    const before = this.#sandbox;
    const { resourceVersion } = before.metadata;
    const locked = { ...patch, metadata: { ...patch.metadata, resourceVersion } };
    const options = {
      type: 'merge',
      signal: this.#context.signal,
      ...(subresource ? { subresource } : {}),
    } as const;
    try {
      const after = await this.#deps.client.patch<Sandbox>(sandboxes, keyOf(before), locked, options);
      this.#ownWrites.record(before, after);
      this.#sandbox = after;
      return undefined;
    } catch (err) {
      if (isFault(err, 'not-found', 'conflict')) return 'stop';
      throw faultLike(err, `patch ${subresource ?? 'metadata'} of sandbox ${this.#name}: ${messageOf(err)}`);
    }
  }

  async #deleteSandbox(): Promise<undefined> {
    const { uid } = this.#sandbox.metadata;
    const { signal } = this.#context;
    try {
      await this.#deps.client.delete(sandboxes, keyOf(this.#sandbox), { uid, signal });
    } catch (err) {
      if (isFault(err, 'not-found', 'conflict')) return; // gone, or another one of its name
      throw faultLike(err, `delete expired sandbox ${this.#name}: ${messageOf(err)}`);
    }
  }

  async #writeStatus({ isExpired }: Decision): Promise<'stop' | undefined> {
    const before = this.#sandbox;
    const after = isExpired
      ? expiredStatus(before, this.#backing(false), this.#now)
      : desiredStatus(
          before,
          { backing: this.#backing(shouldRun(before)), trouble: this.#trouble },
          this.#now,
        );
    const changes = mergeDiff(before.status ?? {}, after);
    if (changes === undefined) return undefined;
    if (isOnlyProgress(before.status, after)) {
      const waitMs = this.#quietMs();
      if (waitMs > 0) {
        this.#lookAgainIn(waitMs);
        return undefined;
      }
    }
    if ((await this.#patchSandbox({ status: changes }, 'status')) === 'stop') return 'stop';
    if (this.#failureNote) this.#deps.recorder.record(before, this.#failureNote);
    for (const note of lifecycleEvents(before, after)) this.#deps.recorder.record(before, note);
    return undefined;
  }

  /** How long the steps of a start are still kept back: until the pod is some seconds old. */
  #quietMs(): number {
    const backing = this.#backing(true);
    if (backing.type !== 'owned') return 0;
    const ageMs = this.#now.getTime() - Date.parse(backing.pod.metadata.creationTimestamp);
    // A pod from the future means that clocks disagree; then nothing is kept back.
    return ageMs >= 0 && ageMs < quietStartMs ? quietStartMs - ageMs : 0;
  }

  #backing(shouldLive: boolean): Backing {
    return this.#pods ? backingOf(this.#pods, this.#sandbox, shouldLive) : { type: 'unknown' };
  }

  #replacePod(pod: Pod, by: Pod | undefined): void {
    this.#pods = (this.#pods ?? []).flatMap((other) => (other === pod ? (by ?? []) : other));
  }

  #lookAgainIn(ms: number | undefined): void {
    if (ms !== undefined) this.#requeueAfterMs = Math.min(this.#requeueAfterMs, ms);
  }

  #fail(err: unknown): void {
    this.#failures.push(err);
    this.#trouble = { reason: 'ReconcilerError', message: this.#failures.map(messageOf).join('; ') };
  }
}

interface SandboxPatch {
  readonly metadata?: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly status?: unknown;
}

const onlyStatus: Decision = { actions: [{ type: 'write-status' }], isExpired: false };

/** The same kind of failure, with what we were doing said first. */
function faultLike(err: unknown, message: string): Error {
  return isFault(err) ? new Fault(err.code, message, { cause: err }) : new Error(message, { cause: err });
}
