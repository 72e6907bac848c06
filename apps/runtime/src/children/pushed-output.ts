import { Bell } from '../bell.ts';

/** Stop the source when this much waits to be read; what it had in flight comes on top. */
const highBytes = 256 * 1024;
/** A source that cannot be stopped is cut off here rather than fill the memory. */
const maxBytes = 8 * 1024 * 1024;

export interface Valve {
  pause(): void;
  resume(): void;
}

/** Turns a terminal, which pushes, into something that is pulled. */
export class PushedOutput implements AsyncIterable<Uint8Array> {
  readonly #valve: Valve;
  readonly #arrived = new Bell();
  #queue: Uint8Array[] = [];
  #bytes = 0;
  #isPaused = false;
  #isOver = false;
  #isLost = false;

  constructor(valve: Valve) {
    this.#valve = valve;
  }

  push(bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#bytes > maxBytes) {
      this.#isLost = true;
      this.end();
      return;
    }
    this.#queue.push(bytes.slice()); // the terminal may use its buffer again
    this.#bytes += bytes.length;
    if (!this.#isPaused && this.#bytes > highBytes) {
      this.#isPaused = true;
      this.#valve.pause();
    }
    this.#arrived.ring();
  }

  end(): void {
    this.#isOver = true;
    this.#arrived.ring();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      const ready = this.#queue;
      this.#queue = [];
      this.#bytes = 0;
      for (const bytes of ready) yield bytes;
      if (this.#queue.length > 0) continue;
      if (this.#isLost) throw new Error('output of a terminal that could not be paused');
      if (this.#isOver) return;
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#valve.resume();
      }
      await this.#arrived.next;
    }
  }
}
