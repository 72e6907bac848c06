import { pause } from './abort.ts';

/** Time as a dependency. Tests use a fake one; nothing that decides reads `Date.now()` itself. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms`, or rejects with `signal.reason` when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: pause,
};
