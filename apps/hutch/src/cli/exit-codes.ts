/** Exit statuses of `hutch run` and `hutch exec`, as people know them from env(1), timeout(1) and docker. */
import { constants } from 'node:os';
import type { ProcessExited } from '@hutch/runtime-protocol';

export const exitCodes = {
  timeout: 124,
  hutchFailed: 125,
  notExecutable: 126,
  notFound: 127,
} as const;

/** Exit statuses of every other command. */
export const failureExitCode = 1;
export const usageExitCode = 2;

export function signalExitCode(signal: string): number {
  const number = constants.signals[signal as keyof typeof constants.signals] as number | undefined;
  return 128 + (number ?? 0);
}

/** The command's own status, or 128+N when signal N ended it, or 124 when its time was up. */
export function exitCodeOf(exit: ProcessExited): number {
  if (exit.timedOut) return exitCodes.timeout;
  if (exit.signal !== undefined) return signalExitCode(exit.signal);
  return exit.exitCode ?? exitCodes.hutchFailed;
}
