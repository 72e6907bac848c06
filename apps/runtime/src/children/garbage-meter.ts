/**
 * Asks for a collection after so many bytes have passed through.
 *
 * The engine paces itself by the memory of the machine, and a long stream would leave it holding a hundred
 * megabytes of spent buffers. They count against the sandbox, whose memory may be little more than that. The
 * heap itself is small, so a collection takes a millisecond or two.
 */
const everyBytes = 16 << 20;

export class GarbageMeter {
  readonly #collect: () => void;
  #bytes = 0;

  constructor(collect: () => void) {
    this.#collect = collect;
  }

  passed(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < everyBytes) return;
    this.#bytes = 0;
    this.#collect();
  }
}
