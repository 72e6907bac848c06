/** When to try again after a cut, and when to give up. */
import { Backoff, isFault, pause } from '@hutch/base';
import { Refused } from './http.ts';

/** With its delays this is about half a minute: how long the runtime keeps a process whose caller is gone. */
const maxFailures = 20;
/** An attempt that lasted this long was connected; only quick failures in a row count. */
const connectedMs = 10_000;

/** The connection, or a proxy on it, failed; the process itself may well be there. */
export function isCut(err: unknown): boolean {
  if (err instanceof Refused) return [502, 503, 504].includes(err.status);
  return isFault(err, 'unavailable');
}

/** Counts failures in a row. Who uses it says what a success is. */
export class Retry {
  readonly #backoff = new Backoff(50, 2_000);
  #failures = 0;

  succeeded(): void {
    this.#failures = 0;
    this.#backoff.reset();
  }

  /** Runs `attempt` until it does not fail by a cut. Rejects with the last cut when there were too many. */
  async run<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const startedAt = performance.now();
      try {
        return await attempt();
      } catch (err) {
        signal.throwIfAborted();
        if (!isCut(err)) throw err;
        if (performance.now() - startedAt > connectedMs) this.succeeded();
        await this.failed(err, signal);
      }
    }
  }

  /** Resolves when to try again, the first time at once. Rejects with `err` when there have been enough. */
  async failed(err: unknown, signal: AbortSignal): Promise<void> {
    if (++this.#failures > maxFailures) throw err;
    if (this.#failures > 1) await pause(this.#backoff.nextMs(), signal);
  }
}
