import { RecentMap } from './recent-map.ts';

export interface BudgetOptions {
  /** What a key may take at once. */
  readonly burst: number;
  /** One more every this many milliseconds, up to `burst`. */
  readonly refillMs: number;
  readonly maxRemembered: number;
}

/** An allowance per key that refills with time. Keys not heard of for long start afresh. */
export class Budget {
  readonly #options: BudgetOptions;
  readonly #left: RecentMap<{ readonly tokens: number; readonly atMs: number }>;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#left = new RecentMap(options.maxRemembered);
  }

  /** False when the key has used up its allowance. */
  take(key: string, nowMs: number): boolean {
    const { burst, refillMs } = this.#options;
    const last = this.#left.get(key) ?? { tokens: burst, atMs: nowMs };
    const refilled = last.tokens + Math.max(0, nowMs - last.atMs) / refillMs;
    const tokens = Math.min(burst, refilled);
    const isAllowed = tokens >= 1;
    this.#left.set(key, { tokens: isAllowed ? tokens - 1 : tokens, atMs: nowMs });
    return isAllowed;
  }
}
