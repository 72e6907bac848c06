import { type Clock, isFault, isTerminal, type Log, runTogether, type Task } from '@hutch/base';
import { keyText, type ObjectKey } from '@hutch/kube-meta';
import type { Lease, WorkQueue } from './work-queue.ts';

export interface ReconcileContext {
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface ReconcileResult {
  /** When to look again if nothing changes before. */
  readonly requeueAfterMs?: number | undefined;
}

/** Looks at the world as it is and brings one object closer to what is wanted. What changed is no input. */
export type Reconcile = (key: ObjectKey, context: ReconcileContext) => Promise<ReconcileResult>;

export interface ControllerOptions {
  readonly name: string;
  /** Belongs to this controller from now on and is closed with it. Wiring only adds keys. */
  readonly queue: WorkQueue;
  readonly workers: number;
  readonly reconcile: Reconcile;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * Works on the keys of a queue until aborted, then waits for the work under way.
 *
 * A failure is retried with back-off, unless it is marked terminal: then only the next change to the
 * object brings its key back.
 */
export async function runController(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const log = options.log.with({ controller: options.name });
  const worker: Task = (shared) => work({ ...options, log }, shared);
  try {
    await runTogether(signal, Array<Task>(options.workers).fill(worker));
  } finally {
    options.queue.close();
  }
}

async function work(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  for await (const lease of options.queue.leases(signal)) {
    using held = lease;
    await workOn(held, options, signal);
  }
}

async function workOn(
  { key }: Lease,
  { queue, reconcile, log, clock }: ControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const keyLog = log.with({ key: keyText(key) });
  const startedMs = clock.now().getTime();
  try {
    const { requeueAfterMs } = await reconcile(key, { signal, log: keyLog });
    queue.forget(key);
    if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
    keyLog.debug('reconciled', { durationMs: clock.now().getTime() - startedMs, requeueAfterMs });
  } catch (err) {
    if (signal.aborted) return;
    if (isTerminal(err)) {
      queue.forget(key);
      keyLog.error('reconcile failed for good', { err });
      return;
    }
    // A conflict only says that our copy was behind; trying again is the normal course of things.
    if (isFault(err, 'conflict')) keyLog.debug('reconcile was behind', { err });
    else if (isFault(err)) keyLog.warn('reconcile failed', { err });
    else keyLog.error('reconcile failed unexpectedly', { err });
    queue.addWithBackoff(key);
  }
}
