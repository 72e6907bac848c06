/**
 * Runs foreign work that may never end: a rule or a pattern that somebody wrote into a definition. When its time is
 * over it is stopped, wherever it is. Costs about a tenth of a millisecond, so only what may need it runs inside.
 */
import { createContext, Script } from 'node:vm';
import { Fault } from '@hutch/base';

const entry = new Script('run()');
const room = createContext({ run: undefined as unknown });

/** A `timeout` fault when it took longer. The work is synchronous, and nothing else runs meanwhile. */
export function withinTime<T>(work: () => T, timeoutMs: number): T {
  let result: T | undefined;
  room.run = () => {
    result = work();
  };
  try {
    entry.runInContext(room, { timeout: timeoutMs });
  } catch (err) {
    if ((err as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw err;
    throw new Fault('timeout', `foreign rule or pattern took longer than ${timeoutMs} ms`);
  } finally {
    room.run = undefined;
  }
  return result as T;
}
