/** How long a call may take. Every method accepts these last. */
import { Fault } from '@hutch/base';

export interface Limits {
  /** The call rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** The call rejects with a `timeout` fault. */
  readonly timeoutMs?: number | undefined;
}

/** Runs `work` under a signal that also ends when the time is up, and leaves no timer behind. */
export async function within<T>(
  { signal, timeoutMs }: Limits,
  whatWasLate: () => string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  if (timeoutMs === undefined) return await work(signal ?? new AbortController().signal);
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new Fault('timeout', `${whatWasLate()} within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await work(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}
