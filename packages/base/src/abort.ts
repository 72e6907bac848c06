/** Timers above this fire at once in Node, so longer waits are made of several. */
const longestTimerMs = 2 ** 31 - 1;

/** Waits `ms`. Rejects with `signal.reason` when aborted first; leaves no timer and no listener behind. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  let remaining = Math.max(0, ms);
  do {
    const step = Math.min(remaining, longestTimerMs);
    remaining -= step;
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, step);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  } while (remaining > 0);
}

/** Waits for `work`, but no longer than the signal allows. The work itself is not stopped. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** True when `err` is only the echo of this signal's abort. */
export function isAbortOf(signal: AbortSignal, err: unknown): boolean {
  return signal.aborted && (err === signal.reason || (err instanceof Error && err.name === 'AbortError'));
}

export type Task = (signal: AbortSignal) => Promise<void>;

/** Runs tasks side by side; the first failure stops the others, and all are awaited. */
export async function runTogether(signal: AbortSignal, tasks: readonly Task[]): Promise<void> {
  const group = new AbortController();
  const shared = AbortSignal.any([signal, group.signal]);
  const failures: unknown[] = [];
  await Promise.all(
    tasks.map(async (task) => {
      try {
        await task(shared);
      } catch (err) {
        if (isAbortOf(shared, err)) return; // an echo of the stop, not a cause
        failures.push(err);
        group.abort(err);
      }
    }),
  );
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
}
