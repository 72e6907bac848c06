import { Backoff, type Clock } from '@hutch/base';
import { keyText, type ObjectKey, parseKeyText } from '@hutch/kube-meta';

/** The right to work on a key. Until it is disposed no one else is given the same key. */
export interface Lease extends Disposable {
  readonly key: ObjectKey;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** First delay after a failure; it doubles with each one that follows. */
  readonly firstBackoffMs?: number;
  readonly maxBackoffMs?: number;
}

interface Delay {
  readonly dueMs: number;
  readonly cancel: AbortController;
}

/**
 * Keys that wait for a worker.
 *
 * Guarantees: one key, one worker; a key added many times while it waits is worked on once; a key added
 * while it is worked on is worked on again afterwards, so no change is missed. First come, first served.
 * Size: at most one place per key and per delayed key, so it is bounded by the objects that exist.
 * On close: waiting workers are let go, delays are cancelled, and further adds do nothing.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #firstBackoffMs: number;
  readonly #maxBackoffMs: number;
  /** In order of arrival. */
  readonly #waiting = new Set<string>();
  readonly #leased = new Set<string>();
  /** Added again while leased. */
  readonly #again = new Set<string>();
  readonly #delays = new Map<string, Delay>();
  readonly #backoffs = new Map<string, Backoff>();
  readonly #idle = new Set<() => void>();
  #closed = false;

  constructor({ clock, firstBackoffMs = 5, maxBackoffMs = 60_000 }: WorkQueueOptions) {
    this.#clock = clock;
    this.#firstBackoffMs = firstBackoffMs;
    this.#maxBackoffMs = maxBackoffMs;
  }

  add(key: ObjectKey): void {
    this.#add(keyText(key));
  }

  /** Of several delays for one key the earliest wins. */
  addAfter(key: ObjectKey, ms: number): void {
    if (this.#closed) return;
    const text = keyText(key);
    if (ms <= 0) {
      this.#add(text);
      return;
    }
    const dueMs = this.#clock.now().getTime() + ms;
    const earlier = this.#delays.get(text);
    if (earlier && earlier.dueMs <= dueMs) return;
    earlier?.cancel.abort();

    const cancel = new AbortController();
    this.#delays.set(text, { dueMs, cancel });
    this.#clock.sleep(ms, cancel.signal).then(
      () => {
        this.#delays.delete(text);
        this.#add(text);
      },
      () => {}, // cancelled: an earlier delay took its place, or the queue was closed
    );
  }

  /** Adds a key whose work failed, after a delay that grows with each failure until `forget`. */
  addWithBackoff(key: ObjectKey): void {
    const text = keyText(key);
    const backoff = this.#backoffs.get(text) ?? new Backoff(this.#firstBackoffMs, this.#maxBackoffMs);
    this.#backoffs.set(text, backoff);
    this.addAfter(key, backoff.nextMs());
  }

  /** The work on this key succeeded, or is given up: its next failure starts with the first delay. */
  forget(key: ObjectKey): void {
    this.#backoffs.delete(keyText(key));
  }

  /** Hands out keys to one worker until the signal aborts or the queue is closed. */
  async *leases(signal: AbortSignal): AsyncGenerator<Lease, void, void> {
    while (!signal.aborted && !this.#closed) {
      const [next] = this.#waiting;
      if (next === undefined) await this.#untilAdded(signal);
      else yield this.#lease(next);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delays.values()) cancel.abort();
    this.#delays.clear();
    this.#waiting.clear();
    this.#wakeAll();
  }

  #add(text: string): void {
    if (this.#closed) return;
    if (this.#leased.has(text)) {
      this.#again.add(text);
      return;
    }
    this.#waiting.add(text);
    this.#wakeAll();
  }

  #lease(text: string): Lease {
    this.#waiting.delete(text);
    this.#leased.add(text);
    return {
      key: parseKeyText(text),
      [Symbol.dispose]: () => {
        if (!this.#leased.delete(text)) return;
        if (this.#again.delete(text)) this.#add(text);
      },
    };
  }

  /** Workers are few, so all of them are woken and the first to look takes the key. */
  #wakeAll(): void {
    for (const wake of this.#idle) wake();
  }

  async #untilAdded(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#idle.delete(wake);
        resolve();
      };
      this.#idle.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
