/** Writes a pod's status: one write on the way at a time, always the newest, nothing when nothing changed. */
import { isDeepStrictEqual } from 'node:util';
import { Backoff, type Clock, isFault, type Log, messageOf, raceAbort } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { keyOf, type Pod, type PodStatus, pods } from '@hutch/kube-meta';

export interface StatusWriterDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
}

export class StatusWriter {
  readonly #deps: StatusWriterDeps;
  readonly #pod: Pod;
  readonly #signal: AbortSignal;
  readonly #backoff = new Backoff(50, 10_000);
  #written: PodStatus | undefined;
  #wanted: PodStatus | undefined;
  #running: Promise<void> | undefined;

  constructor(pod: Pod, deps: StatusWriterDeps, signal: AbortSignal) {
    this.#pod = pod;
    this.#deps = deps;
    this.#signal = signal;
    this.#written = pod.status;
  }

  /** The newest status that was asked for. */
  get latest(): PodStatus | undefined {
    return this.#wanted ?? this.#written;
  }

  want(status: PodStatus): void {
    if (isCovered(status, this.latest)) return;
    this.#wanted = status;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    while (this.#wanted && !this.#signal.aborted) {
      const status = this.#wanted;
      try {
        await this.#write(status);
        this.#backoff.reset();
        this.#written = status;
        if (this.#wanted === status) this.#wanted = undefined;
      } catch (err) {
        if (this.#signal.aborted) return;
        if (isFault(err, 'not-found', 'conflict')) {
          this.#wanted = undefined; // gone, or a namesake took its place: nobody is left to tell
          return;
        }
        this.#deps.log.warn('pod status was not written', { error: messageOf(err) });
        await this.#deps.clock.sleep(this.#backoff.nextMs(), this.#signal).catch(() => {});
      }
    }
  }

  async #write(status: PodStatus): Promise<void> {
    const { uid } = this.#pod.metadata;
    await this.#deps.client.patch(
      pods,
      keyOf(this.#pod),
      { metadata: { uid }, status }, // the uid makes the server refuse the write for a namesake
      { type: 'merge', subresource: 'status', signal: this.#signal },
    );
  }

  async flush(signal: AbortSignal): Promise<void> {
    if (this.#running) await raceAbort(this.#running, signal);
  }
}

/** What is stored may hold more than we write. */
function isCovered(status: PodStatus, stored: PodStatus | undefined): boolean {
  return Object.entries(status).every(([key, value]) =>
    isDeepStrictEqual(value, (stored as Record<string, unknown> | undefined)?.[key]),
  );
}
