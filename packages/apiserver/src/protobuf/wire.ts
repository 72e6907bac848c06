/**
 * The wire format of protobuf: fields with a number and one of a few shapes, in any order, known or not.
 *
 * The bytes are a stranger's. Nothing here trusts a length before it is compared with what is there, and nothing
 * recurses. What cannot be read is an `invalid` fault in the words of a Go decoder.
 */
import { Fault } from '@hutch/base';

/** The shape of a field's value, by its number on the wire. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

export interface Tag {
  readonly number: number;
  readonly wireType: number;
}

/** A varint of four bytes at most is read as a number, without the cost of a bigint. */
const shortBits = 28;
const maxBits = 64n;

/** The low three bits of a tag. */
function shapeOf(wire: number | bigint): number {
  return typeof wire === 'number' ? wire & 7 : Number(wire & 7n);
}

export class WireReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get isDone(): boolean {
    return this.#at >= this.#end;
  }

  /** What comes next. The name of the message is for messages to people. */
  tag(message: string): Tag {
    const wire = this.#varint();
    const number = typeof wire === 'number' ? wire >>> 3 : Number(BigInt.asIntN(32, wire >> 3n));
    const wireType = shapeOf(wire);
    if (wireType === wireTypes.endGroup) {
      throw new Fault('invalid', `proto: ${message}: wiretype end group for non-group`);
    }
    if (number <= 0) {
      throw new Fault('invalid', `proto: ${message}: illegal tag ${number} (wire type ${wire})`);
    }
    return { number, wireType };
  }

  /** Beyond 2⁵³ it is rounded, as it is when it comes as JSON. */
  int64(): number {
    const value = this.#varint();
    return typeof value === 'number' ? value : Number(BigInt.asIntN(64, value));
  }

  int32(): number {
    const value = this.#varint();
    return typeof value === 'number' ? value : Number(BigInt.asIntN(32, value));
  }

  bool(): boolean {
    const value = this.#varint();
    return typeof value === 'number' ? value !== 0 : value !== 0n;
  }

  double(): number {
    const at = this.#advance(8);
    return this.#bytes.readDoubleLE(at);
  }

  /** Bytes that are no UTF-8 are replaced: JSON could not say them. */
  text(): string {
    const length = this.#length();
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  bytes(): Buffer {
    const length = this.#length();
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** A message inside this one. The bytes are shared. */
  message(): WireReader {
    const length = this.#length();
    const at = this.#advance(length);
    return new WireReader(this.#bytes, at, at + length);
  }

  /** Passes over a field that nobody here knows. */
  skip(wireType: number): void {
    let groups = 0;
    // Inside a group only shapes count.
    for (let type = wireType; ; type = shapeOf(this.#varint())) {
      switch (type) {
        case wireTypes.varint:
          this.#varint();
          break;
        case wireTypes.fixed64:
          this.#advance(8);
          break;
        case wireTypes.bytes:
          this.#advance(this.#length());
          break;
        case wireTypes.startGroup:
          groups++;
          break;
        case wireTypes.endGroup:
          groups--;
          break;
        case wireTypes.fixed32:
          this.#advance(4);
          break;
        default:
          throw new Fault('invalid', `proto: illegal wireType ${type}`);
      }
      if (groups === 0) return;
    }
  }

  #length(): number {
    const length = this.int64();
    if (length < 0) throw new Fault('invalid', 'proto: negative length found during unmarshaling');
    return length;
  }

  /** Where the next so many bytes begin; they are there. */
  #advance(count: number): number {
    const at = this.#at;
    if (count > this.#end - at) throw new Fault('invalid', 'unexpected EOF');
    this.#at = at + count;
    return at;
  }

  #byte(): number {
    return this.#bytes[this.#advance(1)] as number;
  }

  /** Unsigned; the long form may have bits beyond the 64th, which count for nothing. */
  #varint(): number | bigint {
    let value = 0;
    for (let shift = 0; shift < shortBits; shift += 7) {
      const byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    let long = BigInt(value);
    for (let shift = BigInt(shortBits); shift < maxBits; shift += 7n) {
      const byte = this.#byte();
      long |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, long);
    }
    throw new Fault('invalid', 'proto: integer overflow');
  }
}
