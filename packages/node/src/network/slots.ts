import { Fault } from '@hutch/base';
import { podSlots } from './plan.ts';

/** Which addresses of a home are given out. The one freed longest ago is used first: late packets find nobody. */
export class Slots {
  #free = podSlots();

  /** These were given out by an earlier agent. */
  keep(taken: Iterable<number>): void {
    const used = new Set(taken);
    this.#free = this.#free.filter((slot) => !used.has(slot));
  }

  take(): number {
    const slot = this.#free.shift();
    if (slot === undefined) throw new Fault('unavailable', 'take an address for a pod: all are in use');
    return slot;
  }

  give(slot: number): void {
    if (!this.#free.includes(slot)) this.#free.push(slot);
  }
}
