import { Fault } from '@hutch/base';

const newline = 0x0a;

/**
 * Cuts a byte stream into lines. Works on bytes, because a chunk may end inside a character; a line is
 * decoded once, when it is whole. Lines longer than `maxBytes` are refused, so a peer that never sends a
 * newline cannot fill the memory.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines this chunk completes, without their newlines. */
  *push(chunk: Uint8Array): Generator<string, void, void> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      yield this.#take();
    }
    this.#keep(chunk.subarray(start));
  }

  /** True when the stream, if it ended now, would end in the middle of a line. */
  get isInsideLine(): boolean {
    return this.#restBytes > 0;
  }

  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#restBytes += piece.length;
    if (this.#restBytes > this.#maxBytes) {
      throw new Fault('too-large', `read a line of more than ${this.#maxBytes} bytes`);
    }
    this.#rest.push(piece);
  }

  #take(): string {
    const [only] = this.#rest;
    const line = this.#rest.length === 1 && only ? only : Buffer.concat(this.#rest, this.#restBytes);
    this.#rest = [];
    this.#restBytes = 0;
    return Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8');
  }
}
