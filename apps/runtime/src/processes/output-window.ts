/**
 * The recent past of one output stream, by byte offset.
 *
 * Guarantees: bytes at or above the floor are never dropped; below it, the last `capacityBytes` are kept as
 * long as there is room. `isFull` asks the producer to stop; what it still had in hand is taken on top.
 *
 * Bytes are copied into segments, so a process that writes one byte at a time costs no more than one that
 * writes much. The last segment dropped is used again: a long stream leaves no garbage behind.
 */
const smallestSegmentBytes = 1024;
const largestSegmentBytes = 64 * 1024;

interface Segment {
  readonly start: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  used: number;
}

export class OutputWindow {
  readonly #capacityBytes: number;
  readonly #segments: Segment[] = [];
  #spare: Uint8Array<ArrayBuffer> | undefined;
  #end = 0;
  #floor = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /** Offset of the oldest byte still here. */
  get start(): number {
    return this.#segments[0]?.start ?? this.#end;
  }

  /** Offset one past the newest byte. */
  get end(): number {
    return this.#end;
  }

  get heldBytes(): number {
    return this.#end - this.start;
  }

  get isFull(): boolean {
    return this.#end - this.#floor >= this.#capacityBytes;
  }

  append(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0) {
      const segment = this.#segmentWithRoom(rest.length);
      const part = rest.subarray(0, segment.bytes.length - segment.used);
      segment.bytes.set(part, segment.used);
      segment.used += part.length;
      this.#end += part.length;
      rest = rest.subarray(part.length);
    }
    this.#trim();
  }

  /**
   * Up to `maxBytes` from `offset` on, empty at the end. The offset must not lie outside the window. The
   * bytes are lent: they may change with the next `append` or `setFloor`.
   */
  read(offset: number, maxBytes: number): Uint8Array {
    if (offset < this.start || offset > this.#end) throw new RangeError(`read output at ${offset}`);
    const segment = this.#segments.findLast(({ start }) => start <= offset);
    if (!segment) return new Uint8Array(0);
    const from = offset - segment.start;
    return segment.bytes.subarray(from, Math.min(segment.used, from + maxBytes));
  }

  /** Bytes below may be dropped from now on. May also go back, as far as the window reaches. */
  setFloor(offset: number): void {
    this.#floor = Math.max(this.start, Math.min(offset, this.#end));
    this.#trim();
  }

  /** Drops nothing more. */
  hold(): void {
    this.#floor = this.start;
  }

  #segmentWithRoom(wanted: number): Segment {
    const last = this.#segments.at(-1);
    if (last && last.used < last.bytes.length) return last;
    // Each is as large as all before it, within bounds: little for a quiet process, few for a busy one.
    const size = Math.min(largestSegmentBytes, Math.max(smallestSegmentBytes, this.heldBytes, wanted));
    const bytes = size === this.#spare?.length ? this.#spare : new Uint8Array(size);
    if (bytes === this.#spare) this.#spare = undefined;
    const segment = { start: this.#end, bytes, used: 0 };
    this.#segments.push(segment);
    return segment;
  }

  #trim(): void {
    for (;;) {
      const [first, second] = this.#segments;
      if (!first || !second) return;
      if (second.start > this.#floor || this.#end - second.start < this.#capacityBytes) return;
      this.#segments.shift();
      this.#spare = first.bytes;
    }
  }
}
