/**
 * One pod from first sight to last trace. A single loop: look, decide, act, wait for the next thing to happen. All the
 * choices are in `decide`, all the doing in `PodBody`; this keeps what is known between the two.
 */
import { Backoff, ignoring, isAbortOf, isFault, type Log, messageOf, unreachable } from '@hutch/base';
import { keyOf, keyText, type Pod, pods } from '@hutch/kube-meta';
import type { LogSource } from '../containers/logs.ts';
import type { Exit, KillSignal } from '../containers/runtime.ts';
import type { NodeContext } from '../context.ts';
import { type Action, type ContainerView, decide, isCrash, isEnding, type Observed } from './decide.ts';
import { PodBody } from './pod-body.ts';
import { keepProbing, type ProbeOutcome } from './prober.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { desiredStatus, timeText } from './status.ts';
import { StatusWriter } from './status-writer.ts';
import type { Stage } from './timings.ts';

const finalStatusTimeoutMs = 2_000;

export class PodWorker {
  readonly #body: PodBody;
  readonly #context: NodeContext;
  readonly #log: Log;
  readonly #backoff = new Backoff(100, 60_000);
  readonly #views = new Map<string, ContainerView>();
  /** Watches over running containers, each ended by its own controller. */
  readonly #watches = new Map<string, AbortController>();
  readonly #background = new Set<Promise<void>>();
  #pod: Pod;
  #isGone = false;
  /** It was over when we first saw it: nothing is started, and what was reported stays. */
  #isOver = false;
  #refusal: Refusal | undefined;
  #stopping: Observed['stopping'];
  #trouble: { reason: string; message: string } | undefined;
  #retry: Observed['retry'];
  #isDirty = false;
  #wake = () => {};

  constructor(pod: Pod, context: NodeContext) {
    this.#pod = pod;
    this.#context = context;
    this.#log = context.log.with({ pod: keyText(keyOf(pod)) });
    this.#body = new PodBody(pod.metadata.uid, context);
    for (const { name } of pod.spec.containers) {
      this.#views.set(name, { name, attempt: 0, state: { type: 'absent' }, crashes: 0 });
    }
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Where a container's output is, and a signal for when no more will come. */
  output(container: string, isPrevious: boolean): LogSource | undefined {
    const view = this.#views.get(container);
    const attempt = (view?.attempt ?? 0) - (isPrevious ? 1 : 0);
    if (!view || attempt < 0) return undefined;
    const watch = view.state.type === 'running' && !isPrevious ? this.#watches.get(container) : undefined;
    return { path: this.#body.logPath(container, attempt), ended: watch?.signal ?? AbortSignal.abort() };
  }

  update(pod: Pod): void {
    this.#pod = pod;
    this.#notify();
  }

  /** The API has no such pod any more. */
  gone(): void {
    this.#isGone = true;
    this.#notify();
  }

  /** One that knows what this one was told and nothing of what it did: it finds that as after a restart of the agent. */
  successor(): PodWorker {
    const next = new PodWorker(this.#pod, this.#context);
    if (this.#isGone) next.gone();
    return next;
  }

  #notify(): void {
    this.#isDirty = true;
    this.#wake();
  }

  /** Returns when the pod is over, or on abort: then everything is left as it is, to be adopted. */
  async run(signal: AbortSignal): Promise<void> {
    const writer = new StatusWriter(this.#pod, { ...this.#context, log: this.#log }, signal);
    try {
      this.#mark('seen');
      this.#isOver = this.#pod.status?.phase === 'Succeeded' || this.#pod.status?.phase === 'Failed';
      this.#refusal = this.#isOver ? undefined : refusalOf(this.#pod, this.#context.abilities);
      await this.#adopt(signal);
      for (;;) {
        signal.throwIfAborted();
        this.#isDirty = false;
        const observed = this.#observe();
        const { actions, wakeAfterMs } = decide(observed, this.#context.clock.now());
        this.#report(writer);
        const isForgotten = await this.#perform(actions, isEnding(observed), writer, signal);
        if (isForgotten) return;
        if (actions.length === 0) await this.#sleep(wakeAfterMs, signal);
      }
    } catch (err) {
      if (!isAbortOf(signal, err)) throw err;
    } finally {
      for (const watch of this.#watches.values()) watch.abort();
      await Promise.allSettled([...this.#background, this.#body.settled()]);
    }
  }

  #observe(): Observed {
    return {
      pod: this.#pod,
      isGone: this.#isGone,
      isOver: this.#isOver,
      refusal: this.#refusal,
      isSetUp: this.#body.isSetUp,
      containers: [...this.#views.values()],
      stopping: this.#stopping,
      retry: this.#retry,
    };
  }

  #report(writer: StatusWriter): void {
    if (this.#isGone || this.#isOver) return;
    const { clock, hostIp, runtime } = this.#context;
    const now = clock.now();
    const status = desiredStatus(
      {
        ...this.#observe(),
        podIp: this.#body.ip ?? this.#pod.status?.podIP,
        hostIp,
        startTime: writer.latest?.startTime ?? timeText(now),
        before: writer.latest,
        runtimeName: runtime.name,
        containerId: (name, attempt) => this.#body.containerId(name, attempt),
        trouble: this.#trouble,
      },
      now,
    );
    if (this.#refusal && writer.latest?.phase !== 'Failed') {
      this.#record('Warning', this.#refusal.reason, this.#refusal.message);
    }
    writer.want(status);
  }

  /** Until something happens, or the time is up. */
  async #sleep(ms: number | undefined, signal: AbortSignal): Promise<void> {
    if (this.#isDirty) return;
    const woken = new AbortController();
    const stop = AbortSignal.any([signal, woken.signal]);
    this.#wake = () => woken.abort();
    try {
      // nothing to wait for but events: a day is as good as for ever, and bounded
      await this.#context.clock.sleep(ms ?? 86_400_000, stop);
    } catch (err) {
      if (!woken.signal.aborted) throw err;
    } finally {
      this.#wake = () => {};
    }
  }

  /** In order; a failure ends the round and puts the next one off. True when the pod is over. */
  async #perform(
    actions: readonly Action[],
    isOfEnd: boolean,
    writer: StatusWriter,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const action of actions) {
      try {
        await this.#act(action, writer, signal);
      } catch (err) {
        signal.throwIfAborted();
        this.#log.warn('pod step failed', { step: action.type, error: messageOf(err) });
        this.#putOff(isOfEnd);
        return false;
      }
      if (action.type === 'forget') return true;
    }
    if (actions.length > 0) {
      this.#backoff.reset();
      this.#retry = undefined;
      this.#trouble = undefined;
    }
    return false;
  }

  #putOff(isOfEnd: boolean): void {
    if (this.#retry && this.#retry.isOfEnd !== isOfEnd) this.#backoff.reset(); // a new way, with troubles of its own
    const at = new Date(this.#context.clock.now().getTime() + this.#backoff.nextMs());
    this.#retry = { at, isOfEnd };
  }

  async #act(action: Action, writer: StatusWriter, signal: AbortSignal): Promise<void> {
    switch (action.type) {
      case 'set-up':
        return this.#body.setUp(this.#pod, signal);
      case 'start':
        return await this.#start(action.container, action.attempt, signal);
      case 'stop':
        return await this.#stop(action.signal);
      case 'tear-down':
        return await this.#body.tearDown(this.#pod);
      case 'release-object':
        return await this.#release(writer, signal);
      case 'forget':
        this.#context.timings.forget(this.#pod.metadata.uid);
        return await this.#body.forget();
      default:
        return unreachable(action);
    }
  }

  async #start(name: string, attempt: number, signal: AbortSignal): Promise<void> {
    const container = this.#pod.spec.containers.find((one) => one.name === name);
    const view = this.#views.get(name);
    if (!container || !view) return;
    const previous = view.state.type === 'exited' ? view.state.exit : view.previous;
    let startedAt: string;
    try {
      startedAt = await this.#body.start(this.#pod, container, attempt, {
        signal,
        onStage: (stage) => this.#mark(stage),
      });
    } catch (err) {
      signal.throwIfAborted();
      return await this.#startFailed({ ...view, attempt, previous }, err);
    }
    this.#mark('started');
    const isReady = container.readinessProbe === undefined;
    this.#views.set(name, { ...view, attempt, previous, state: { type: 'running', startedAt, isReady } });
    this.#watch(name, attempt, signal);
    if (isReady) this.#mark('ready');
    this.#record('Normal', 'Started', `Started container ${name}`);
  }

  /** What cannot be mended by trying again ends the container or the pod; everything else is thrown, to be retried. */
  async #startFailed(view: ContainerView, err: unknown): Promise<void> {
    const message = messageOf(err);
    if (isFault(err, 'not-found', 'unsupported')) {
      this.#refusal = { reason: 'ErrImagePull', message };
      return;
    }
    await this.#body.discard(view.name, view.attempt);
    if (isFault(err, 'invalid')) {
      this.#record('Warning', 'Failed', message);
      const now = this.#context.clock.now().toISOString();
      const problem = { reason: 'StartError', message };
      this.#ended(view, { exitCode: 128, isOutOfMemory: false, startedAt: now, finishedAt: now, problem });
      return;
    }
    this.#trouble = { reason: 'FailedCreatePodSandBox', message };
    this.#record('Warning', 'FailedCreatePodSandBox', message);
    await this.#body.tearDownUnlessRunning(this.#pod, this.#isAnyRunning());
    throw err;
  }

  #isAnyRunning(): boolean {
    return [...this.#views.values()].some(({ state }) => state.type === 'running');
  }

  async #stop(signal: KillSignal): Promise<void> {
    this.#stopping = { since: this.#stopping?.since ?? this.#context.clock.now(), signal };
    for (const { name, attempt, state } of this.#views.values()) {
      if (state.type === 'running') await this.#context.runtime.kill(this.#body.place(name, attempt), signal);
    }
    if (signal === 'SIGTERM') this.#record('Normal', 'Killing', 'Stopping the containers of the pod');
  }

  /** The last status is told before the object goes, if the API can be told at all. */
  async #release(writer: StatusWriter, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(finalStatusTimeoutMs)]);
    await writer.flush(limit).catch((err: unknown) => this.#log.debug('final status not written', { err }));
    const { uid } = this.#pod.metadata;
    const deletion = this.#context.client.delete(pods, keyOf(this.#pod), {
      uid,
      gracePeriodSeconds: 0,
      signal,
    });
    await ignoring('not-found', ignoring('conflict', deletion)); // conflict: a namesake is there, ours is gone
  }

  async #adopt(signal: AbortSignal): Promise<void> {
    const reported = new Map(
      this.#pod.status?.containerStatuses?.map((status) => [status.name, status]) ?? [],
    );
    for (const { name, attempt, sight } of await this.#body.adopt(this.#pod, signal)) {
      const container = this.#pod.spec.containers.find((one) => one.name === name);
      if (!container) continue;
      const view: ContainerView = { name, attempt, state: { type: 'absent' }, crashes: attempt };
      if (sight.type === 'exited') this.#ended(view, sight.exit);
      else if (sight.type === 'running') {
        // ready as reported before, until the probe says otherwise: a restart of the agent is no reason to turn
        const isReady = container.readinessProbe === undefined || reported.get(name)?.ready === true;
        this.#views.set(name, { ...view, state: { type: 'running', startedAt: sight.startedAt, isReady } });
        this.#watch(name, attempt, signal);
        this.#log.info('container adopted', { container: name, pid: sight.pid });
      } else this.#views.set(name, view);
    }
  }

  /** Looks after a running container: its end, and its readiness. */
  #watch(name: string, attempt: number, signal: AbortSignal): void {
    const controller = new AbortController();
    const own = AbortSignal.any([signal, controller.signal]);
    this.#watches.set(name, controller);
    this.#own(this.#awaitEnd(name, attempt, own));
    const container = this.#pod.spec.containers.find((one) => one.name === name);
    const state = this.#views.get(name)?.state;
    const { ip } = this.#body;
    if (!container?.readinessProbe || ip === undefined) return;
    const target = { ip, container, probe: container.readinessProbe };
    const isReady = state?.type === 'running' && state.isReady;
    const onChange = (outcome: ProbeOutcome) => this.#readinessTurned(name, outcome);
    this.#own(keepProbing(target, { isReady, clock: this.#context.clock, onChange }, own));
  }

  #own(work: Promise<void>): void {
    const owned = work
      .catch((err: unknown) => this.#log.error('pod watch failed', { err }))
      .finally(() => this.#background.delete(owned));
    this.#background.add(owned);
  }

  async #awaitEnd(name: string, attempt: number, signal: AbortSignal): Promise<void> {
    let exit: Exit;
    try {
      exit = await this.#context.runtime.wait(this.#body.place(name, attempt), signal);
    } catch (err) {
      if (isAbortOf(signal, err)) return;
      throw err;
    }
    this.#watches.get(name)?.abort();
    const view = this.#views.get(name);
    if (view) this.#ended(view, exit);
    this.#notify();
    // frees its memory now; what fails here is tried again by tear-down
    await this.#body.discard(name, attempt);
  }

  #ended(view: ContainerView, exit: Exit): void {
    const crashes = isCrash(exit) ? view.crashes + 1 : 1;
    this.#views.set(view.name, { ...view, state: { type: 'exited', exit }, crashes });
    this.#log.info('container ended', { container: view.name, exitCode: exit.exitCode });
  }

  #readinessTurned(name: string, { isReady, message }: ProbeOutcome): void {
    const view = this.#views.get(name);
    if (view?.state.type !== 'running') return;
    this.#views.set(name, { ...view, state: { ...view.state, isReady } });
    if (isReady) this.#mark('ready');
    else this.#record('Warning', 'Unhealthy', `Readiness probe failed: ${message}`);
    this.#notify();
  }

  #mark(stage: Stage): void {
    const { uid, name, namespace = 'default' } = this.#pod.metadata;
    this.#context.timings.mark({ uid, name, namespace }, stage);
  }

  #record(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#context.events.record(this.#pod, { type, reason, message });
  }
}
