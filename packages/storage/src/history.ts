import type { Recorded } from './driver.ts';
import type { StorageEvent } from './storage.ts';

export interface HistoryLimits {
  readonly events: number;
  readonly bytes: number;
}

/** The latest changes, bounded in number and size. The newest is always kept. */
export class History {
  #recorded: Recorded[];
  #bytes: number;
  readonly #limits: HistoryLimits;

  constructor(limits: HistoryLimits, recorded: readonly Recorded[]) {
    this.#limits = limits;
    this.#recorded = [...recorded];
    this.#bytes = sizeOf(recorded);
  }

  /** The revision just before the oldest change known, or `fallback` when none is. */
  oldest(fallback: number): number {
    const first = this.#recorded[0];
    return first ? first.event.revision - 1 : fallback;
  }

  /**
   * From where to keep history once what is `added` is in it too. Dropping goes in steps of a quarter of the
   * limit, so that its cost is paid rarely. `pressure` halves the limits once per step: a full disk needs room.
   */
  keepFrom(added: readonly Recorded[], pressure: number): number {
    const slack = pressure > 0 ? 1 : 1.25;
    const maxEvents = Math.max(1, Math.floor(this.#limits.events / 2 ** pressure));
    const maxBytes = this.#limits.bytes / 2 ** pressure;
    let count = this.#recorded.length + added.length;
    let bytes = this.#bytes + sizeOf(added);
    if (count <= maxEvents * slack && bytes <= maxBytes * slack) return 0;

    let first = 0;
    while (first < this.#recorded.length - 1 && (count > maxEvents || bytes > maxBytes)) {
      bytes -= (this.#recorded[first] as Recorded).bytes;
      count--;
      first++;
    }
    return this.#recorded[first]?.event.revision ?? 0;
  }

  append(added: readonly Recorded[], keepFrom: number): void {
    if (keepFrom > 0) {
      const dropped = this.#recorded.splice(0, this.#indexAfter(keepFrom - 1));
      this.#bytes -= sizeOf(dropped);
    }
    for (const recorded of added) this.#recorded.push(recorded);
    this.#bytes += sizeOf(added);
  }

  /** The changes under a prefix after a revision. */
  since(revision: number, prefix: string): StorageEvent[] {
    const events: StorageEvent[] = [];
    for (let at = this.#indexAfter(revision); at < this.#recorded.length; at++) {
      const { event } = this.#recorded[at] as Recorded;
      if (event.key.startsWith(prefix)) events.push(event);
    }
    return events;
  }

  #indexAfter(revision: number): number {
    let low = 0;
    let high = this.#recorded.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#recorded[middle] as Recorded).event.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function sizeOf(recorded: readonly Recorded[]): number {
  return recorded.reduce((sum, { bytes }) => sum + bytes, 0);
}
