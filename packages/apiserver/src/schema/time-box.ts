/**
 * Runs foreign work that may never end: a rule or a pattern that somebody wrote into a definition. When its time is
 * over it is stopped, wherever it is.
 *
 * Being watched costs about a tenth of a millisecond, so work begins unwatched. Before it does something that could
 * take any time it says so (`needsWatch`), and is begun again, watched.
 */
import { createContext, Script } from 'node:vm';
import { Fault } from '@hutch/base';

const entry = new Script('run()');
const room = createContext({ run: undefined as unknown });
const unwatched = new Error('work that needs a watch was begun without one');
let isWatched = false;

/** Says that what follows may take any time. Only inside `withinTime` does this return. */
export function needsWatch(): void {
  if (!isWatched) throw unwatched;
}

/** Whether something was thrown only to say so: whoever handles errors of the work lets this one pass. */
export function asksForWatch(err: unknown): boolean {
  return err === unwatched || (err instanceof Error && err.cause === unwatched);
}

/** A `timeout` fault when it took longer. The work is synchronous, changes nothing, and may be run twice. */
export function withinTime<T>(work: () => T, timeoutMs: number): T {
  try {
    return work();
  } catch (err) {
    if (!asksForWatch(err)) throw err;
    return watched(work, timeoutMs);
  }
}

function watched<T>(work: () => T, timeoutMs: number): T {
  let result: T | undefined;
  room.run = () => {
    result = work();
  };
  isWatched = true;
  try {
    entry.runInContext(room, { timeout: timeoutMs });
  } catch (err) {
    if ((err as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw err;
    throw new Fault('timeout', `foreign rule or pattern took longer than ${timeoutMs} ms`);
  } finally {
    isWatched = false;
    room.run = undefined;
  }
  return result as T;
}
