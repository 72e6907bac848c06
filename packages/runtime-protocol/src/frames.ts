/**
 * The framing of a process's output: one byte of type, eight of offset, four of length (big-endian),
 * then the payload. The offset is where a stdout or stderr payload begins in its stream, else zero.
 */
import { Fault } from '@hutch/base';
import type { ProcessExited, ProcessFailed, ProcessStarted } from './processes.ts';

export const framesContentType = 'application/vnd.hutch.frames';

export type Frame =
  | { readonly type: 'started'; readonly process: ProcessStarted }
  | { readonly type: 'stdout' | 'stderr'; readonly offset: number; readonly data: Uint8Array }
  | { readonly type: 'exited'; readonly exit: ProcessExited }
  | { readonly type: 'failed'; readonly failure: ProcessFailed }
  /** Sent now and then on a quiet stream, so that both ends notice a dead connection. */
  | { readonly type: 'alive' };

const headerBytes = 13;
/** A peer that announces more is broken or hostile. */
export const maxFrameBytes = 1 << 20;

const codes = { stdout: 1, stderr: 2, started: 3, exited: 4, failed: 5, alive: 6 } as const;

export function encodeFrame(frame: Frame): Uint8Array {
  switch (frame.type) {
    case 'stdout':
    case 'stderr':
      return withHeader(codes[frame.type], frame.offset, frame.data);
    case 'started':
      return withHeader(codes.started, 0, json(frame.process));
    case 'exited':
      return withHeader(codes.exited, 0, json(frame.exit));
    case 'failed':
      return withHeader(codes.failed, 0, json(frame.failure));
    case 'alive':
      return withHeader(codes.alive, 0, new Uint8Array(0));
  }
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function withHeader(code: number, offset: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(headerBytes + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, code);
  view.setBigUint64(1, BigInt(offset));
  view.setUint32(9, payload.length);
  bytes.set(payload, headerBytes);
  return bytes;
}

/** Turns chunks cut anywhere back into frames. Throws an `invalid` fault on bytes that are not frames. */
export class FrameDecoder {
  #rest: Uint8Array = new Uint8Array(0);

  *decode(chunk: Uint8Array): Generator<Frame, void, void> {
    const bytes = this.#rest.length === 0 ? chunk : concat(this.#rest, chunk);
    let at = 0;
    while (bytes.length - at >= headerBytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at, headerBytes);
      const length = view.getUint32(9);
      if (length > maxFrameBytes) throw new Fault('invalid', `frame of ${length} bytes from the runtime`);
      if (bytes.length - at < headerBytes + length) break;
      const payload = bytes.subarray(at + headerBytes, at + headerBytes + length);
      at += headerBytes + length;
      yield frameOf(view.getUint8(0), Number(view.getBigUint64(1)), payload);
    }
    this.#rest = bytes.slice(at);
  }

  /** Whether the bytes so far end between two frames. */
  get isAtBoundary(): boolean {
    return this.#rest.length === 0;
  }
}

function frameOf(code: number, offset: number, payload: Uint8Array): Frame {
  switch (code) {
    case codes.stdout:
      return { type: 'stdout', offset, data: payload };
    case codes.stderr:
      return { type: 'stderr', offset, data: payload };
    case codes.started:
      return { type: 'started', process: parse(payload) as ProcessStarted };
    case codes.exited:
      return { type: 'exited', exit: parse(payload) as ProcessExited };
    case codes.failed:
      return { type: 'failed', failure: parse(payload) as ProcessFailed };
    case codes.alive:
      return { type: 'alive' };
    default:
      throw new Fault('invalid', `frame of unknown type ${code} from the runtime`);
  }
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(payload));
  } catch (cause) {
    throw new Fault('invalid', 'frame from the runtime does not hold JSON', { cause });
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
