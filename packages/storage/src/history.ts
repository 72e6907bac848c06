import type { StorageEvent } from './storage.ts';

/** The latest changes, bounded in number. The newest is always kept. */
export class History {
  #events: StorageEvent[];
  readonly #limit: number;

  constructor(limit: number, events: readonly StorageEvent[]) {
    this.#limit = limit;
    this.#events = [...events];
  }

  /** The revision just before the oldest change known, or `fallback` when none is. */
  oldest(fallback: number): number {
    const first = this.#events[0];
    return first ? first.revision - 1 : fallback;
  }

  /**
   * From where to keep history once `added` more events are in it. Dropping goes in steps of a quarter of the
   * limit, so that its cost is paid rarely. `pressure` halves the limit once per step: a full disk needs room.
   */
  keepFrom(added: number, pressure: number): number {
    const limit = Math.max(1, Math.floor(this.#limit / 2 ** pressure));
    const excess = this.#events.length + added - limit;
    if (excess <= (pressure > 0 ? 0 : limit / 4)) return 0;
    const index = Math.min(excess, this.#events.length - 1);
    return this.#events[index]?.revision ?? 0;
  }

  append(events: readonly StorageEvent[], keepFrom: number): void {
    if (keepFrom > 0) this.#events = this.#events.slice(this.#indexAfter(keepFrom - 1));
    for (const event of events) this.#events.push(event);
  }

  /** The changes under a prefix after a revision. */
  since(revision: number, prefix: string): StorageEvent[] {
    return this.#events.slice(this.#indexAfter(revision)).filter(({ key }) => key.startsWith(prefix));
  }

  #indexAfter(revision: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as StorageEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
