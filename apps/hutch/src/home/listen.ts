/** Ports that people know, and what happens when one is taken. */
import { Fault, isFault } from '@hutch/base';

export interface Port {
  readonly number: number;
  /** Asked for by name: then no other will do. */
  readonly isFixed: boolean;
}

/** The port that was asked for, the usual one, or any free one: a second home on a machine must not fail for it. */
export async function listen<T>(port: Port, open: (number: number) => Promise<T>): Promise<T> {
  try {
    return await open(port.number);
  } catch (err) {
    if (!isTaken(err)) throw err;
    if (!port.isFixed) return await open(0);
    throw new Fault('already-exists', `port ${port.number} is taken: choose another one, or leave it out`, {
      cause: err,
    });
  }
}

function isTaken(err: unknown): boolean {
  return isFault(err, 'already-exists') || (err as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
