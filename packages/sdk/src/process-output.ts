/**
 * What a process writes, each byte once and in order, over as many connections as it takes.
 *
 * Guarantees: after a cut the stream goes on exactly where it stopped. The process is told how far we have
 * read, so that nothing still on its way can be lost; a reader that stops reading stops the process.
 * Gives up: when the runtime cannot be reached for about half a minute, or no longer has the output.
 */
import { Fault, pause } from '@hutch/base';
import {
  type Frame,
  FrameDecoder,
  type OutputRead,
  type ProcessExited,
  processesPath,
} from '@hutch/runtime-protocol';
import { chunksOf } from './byte-stream.ts';
import type { Connection } from './connection.ts';
import type { Answer } from './http.ts';
import { isCut, Retry } from './retry.ts';

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Uint8Array;
}

/** The runtime says something at least every 15 s; this long a silence is a dead connection. */
const silenceMs = 45_000;
/** A small part of what the runtime keeps, so that a process never waits for the news. */
const acknowledgeBytes = 512 << 10;
/** A message that did not get through is repeated after this, since the process may wait for it. */
const repeatMs = 100;

export interface ProcessOutputDeps {
  readonly connection: Connection;
  readonly id: string;
  /** The rest of the answer that started the process. */
  readonly first: AsyncIterable<Frame>;
  readonly signal: AbortSignal;
}

/** Ends with how the process exited. */
export async function* readOutput({
  connection,
  id,
  first,
  signal,
}: ProcessOutputDeps): AsyncGenerator<OutputChunk, ProcessExited, void> {
  const at = { stdout: 0, stderr: 0 };
  const retry = new Retry();
  const acknowledge = acknowledger(connection, id, signal);
  let frames = first;
  for (;;) {
    let cut: unknown = new Fault('unavailable', `output of process ${id} ended before the process`);
    try {
      for await (const frame of frames) {
        retry.succeeded();
        if (frame.type === 'exited') return frame.exit;
        if (frame.type === 'failed') throw new Fault('expired', frame.failure.message);
        if (frame.type === 'started' || frame.type === 'alive') continue;
        const data = unseenPart(frame, at[frame.type], id);
        if (data.length === 0) continue;
        at[frame.type] += data.length;
        yield { stream: frame.type, data };
        acknowledge(at);
      }
    } catch (err) {
      signal.throwIfAborted();
      if (!isCut(err)) throw err;
      cut = err;
    }
    await retry.failed(cut, signal);
    frames = await retry.run(() => reattach(connection, id, { at, signal }), signal);
  }
}

async function reattach(
  connection: Connection,
  id: string,
  { at, signal }: { at: OutputRead; signal: AbortSignal },
): Promise<AsyncIterable<Frame>> {
  const path = `${processesPath}/${id}/output?stdout=${at.stdout}&stderr=${at.stderr}`;
  const dead = new AbortController();
  const shared = AbortSignal.any([signal, dead.signal]);
  const response = await connection.send({ doing: `re-attach to process ${id}`, path, signal: shared });
  return readFrames(response, { id, dead, signal });
}

/** The bytes we do not have yet. A gap cannot be mended, and must not go unnoticed. */
function unseenPart(
  { type, offset, data }: { type: 'stdout' | 'stderr'; offset: number; data: Uint8Array },
  have: number,
  id: string,
): Uint8Array {
  if (offset > have) {
    throw new Fault('internal', `${type} of process ${id} has a gap: ${offset} follows ${have}`);
  }
  return data.subarray(Math.min(have - offset, data.length));
}

/**
 * Tells the runtime now and then how far we are, one message at a time.
 *
 * What was read while a message was under way is told right after it: the process may have stopped for just that,
 * and then no further output would come to remind us.
 */
function acknowledger(connection: Connection, id: string, signal: AbortSignal): (at: OutputRead) => void {
  let told = 0;
  let isTelling = false;
  let latest: OutputRead = { stdout: 0, stderr: 0 };
  const isDue = () => latest.stdout + latest.stderr - told >= acknowledgeBytes;
  const tell = async () => {
    const path = `${processesPath}/${id}/acknowledge`;
    const doing = `acknowledge output of process ${id}`;
    isTelling = true;
    try {
      while (isDue()) {
        const json = latest;
        try {
          await connection.json({ doing, method: 'POST', path, json, signal });
          told = json.stdout + json.stderr;
        } catch (err) {
          if (!isCut(err)) throw err;
          await pause(repeatMs, signal);
        }
      }
    } catch {
      // aborted, or the process is over: nobody waits for it any more
    } finally {
      isTelling = false;
    }
  };
  return ({ stdout, stderr }) => {
    latest = { stdout, stderr };
    if (!isTelling && isDue()) void tell();
  };
}

export interface ReadFramesOptions {
  readonly id: string;
  /** Aborted by us when the connection is silent for too long; the request must be made under it. */
  readonly dead: AbortController;
  readonly signal: AbortSignal;
}

export async function* readFrames(
  response: Answer,
  { id, dead, signal }: ReadFramesOptions,
): AsyncGenerator<Frame, void, void> {
  const decoder = new FrameDecoder();
  const chunks = chunksOf(response, `read output of process ${id}`, signal);
  using silence = watchSilence(dead, id);
  try {
    for (;;) {
      silence.waiting();
      const { done, value } = await chunks.next();
      silence.heard();
      if (done) return;
      yield* decoder.decode(value);
    }
  } finally {
    await chunks.return();
  }
}

/** A dead peer gives no other sign than silence, so this needs a timer; only time spent waiting counts. */
function watchSilence(dead: AbortController, id: string) {
  let since: number | undefined;
  const timer = setInterval(() => {
    if (since === undefined || performance.now() - since < silenceMs) return;
    dead.abort(new Fault('unavailable', `process ${id}: no sign of life for ${silenceMs} ms`));
  }, silenceMs / 3);
  (timer as { unref?: () => void }).unref?.(); // where there is such a thing, a program may end meanwhile
  return {
    waiting: () => {
      since = performance.now();
    },
    heard: () => {
      since = undefined;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
