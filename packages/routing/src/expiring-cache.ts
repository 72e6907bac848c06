/**
 * Remembers a bounded number of answers for a short time. The one unused for longest leaves first.
 * Asked twice at once, it computes once. A failure is not remembered.
 */
import type { Clock } from '@hutch/base';

export class ExpiringCache<T> {
  readonly #entries = new Map<string, { readonly value: Promise<T>; until: number }>();
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #ttlMs: number;

  constructor({ clock, capacity, ttlMs }: { clock: Clock; capacity: number; ttlMs: number }) {
    this.#clock = clock;
    this.#capacity = capacity;
    this.#ttlMs = ttlMs;
  }

  get(key: string, compute: () => Promise<T>): Promise<T> {
    const now = this.#clock.now().getTime();
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known && now < known.until ? known : this.#compute(key, compute);
    this.#entries.set(key, entry); // last in the map is the one used most recently
    if (this.#entries.size > this.#capacity) {
      this.#entries.delete(this.#entries.keys().next().value as string);
    }
    return entry.value;
  }

  get size(): number {
    return this.#entries.size;
  }

  #compute(key: string, compute: () => Promise<T>): { value: Promise<T>; until: number } {
    const entry = { value: compute(), until: Number.POSITIVE_INFINITY };
    entry.value.then(
      () => {
        entry.until = this.#clock.now().getTime() + this.#ttlMs;
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry;
  }
}
