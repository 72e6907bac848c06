import { raceAbort } from '@hutch/base';
import type { Frame, OutputRead } from '@hutch/runtime-protocol';
import type { ManagedProcess } from './managed-process.ts';

/** Large enough to be cheap, small enough that a slow reader of both streams gets them in turns. */
const payloadBytes = 64 * 1024;

export interface FrameSink {
  /** Resolves when more may be written. */
  write(frame: Frame): Promise<void>;
}

/**
 * Sends a process's output from these offsets on, then its outcome.
 *
 * Rejects with the reason of `signal` when the connection or the reader's place is lost.
 */
export async function streamOutput(
  managed: ManagedProcess,
  from: OutputRead,
  { sink, signal }: { readonly sink: FrameSink; readonly signal: AbortSignal },
): Promise<void> {
  const at = { stdout: from.stdout, stderr: from.stderr };
  for (;;) {
    let isIdle = true;
    for (const name of ['stdout', 'stderr'] as const) {
      signal.throwIfAborted();
      const data = managed.read(name, at[name], payloadBytes);
      if (data.length === 0) continue;
      isIdle = false;
      const sent = sink.write({ type: name, offset: at[name], data });
      at[name] += data.length;
      await sent;
      signal.throwIfAborted(); // a reader that was replaced meanwhile must not move the new one's floor
      managed.delivered(name, at[name]);
    }
    if (!isIdle) continue;
    if (managed.outcome) return sink.write(managed.outcome);
    await raceAbort(managed.changed.next, signal);
  }
}
