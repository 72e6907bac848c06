import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@hutch/base';

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  readonly #watchers = new Set<() => void>();
  #nowMs: number;

  constructor(start: Date = new Date('2030-01-01T00:00:00Z')) {
    this.#nowMs = start.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason as Error);
      };
      const wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper: Sleeper = { dueMs: this.#nowMs + Math.max(0, ms), wake };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.add(sleeper);
      for (const notify of this.#watchers) notify();
    });
  }

  /** How many wait for time to pass. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Resolves as soon as at least `count` wait: the moment from which `advance` reaches them. */
  async untilSleeping(count: number): Promise<void> {
    while (this.#sleepers.size < count) {
      await new Promise<void>((resolve) => {
        const notify = () => {
          this.#watchers.delete(notify);
          resolve();
        };
        this.#watchers.add(notify);
      });
    }
  }

  /**
   * Lets time pass, waking sleepers in the order they are due. Each is given a turn of the event loop to
   * go to sleep again, so a loop that sleeps a second at a time runs ten times in `advance(10_000)`.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#nextDue(untilMs); next; next = this.#nextDue(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#sleepers.delete(next);
      next.wake();
      await nextTurn();
    }
    this.#nowMs = untilMs;
    await nextTurn();
  }

  #nextDue(untilMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.dueMs <= untilMs && (!first || sleeper.dueMs < first.dueMs)) first = sleeper;
    }
    return first;
  }
}
