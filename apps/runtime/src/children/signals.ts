import { constants } from 'node:os';
import { Fault, isFault } from '@hutch/base';

export function isSignalName(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

/** Platforms report a signal by name or by number; the protocol speaks names. */
export function signalName(signal: string | number): string {
  if (typeof signal === 'string') return signal;
  const found = Object.entries(constants.signals).find(([, number]) => number === signal);
  return found?.[0] ?? `SIG${signal}`;
}

/** Sends to the whole process group. False when nobody of it is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    if (code === 'EPERM')
      throw new Fault('forbidden', `signal group ${pid}: it runs as another user`, { cause: err });
    throw err;
  }
}

/** As `signalGroup`, for those who could do nothing about a refusal. */
export function trySignalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    signalGroup(pid, signal);
  } catch (err) {
    if (!isFault(err, 'forbidden')) throw err;
  }
}
