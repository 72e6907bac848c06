/** Answers that go on: watches as one JSON object a line, and plain bytes. Both go at the reader's pace. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { Fault } from '@hutch/base';
import type { ApiResponse, ByteStream } from '@hutch/kube-meta';
import { refusalOf } from '../refusals.ts';
import { warningHeader, writeObject } from './answer.ts';

/**
 * A watcher that reads nothing for this long is cut off. Without a limit a client that is stuck but connected
 * would hold its connection for ever; the store has stopped keeping changes for it long before.
 */
const stalledReaderMs = 30_000;

export async function writeWatch(
  outgoing: ServerResponse,
  { events, warnings = [] }: Extract<ApiResponse, { type: 'watch' }>,
  { signal, texts }: { signal: AbortSignal; texts: RecentTexts },
): Promise<void> {
  outgoing.writeHead(200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
    ...warningHeader(warnings),
  });
  outgoing.flushHeaders();
  for await (const { type, object } of events) {
    if (signal.aborted) return;
    const line = `{"type":"${type}","object":${texts.of(object)}}\n`;
    if (!outgoing.write(line)) await drained(outgoing, signal);
  }
  outgoing.end();
}

async function drained(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  const stalled = AbortSignal.timeout(stalledReaderMs);
  try {
    await once(outgoing, 'drain', { signal: AbortSignal.any([signal, stalled]) });
  } catch (err) {
    signal.throwIfAborted();
    throw new Fault('timeout', `watcher read nothing for ${stalledReaderMs} ms`, { cause: err });
  }
}

/** Many watchers are shown the same frozen object one after the other; its text is made once. */
export class RecentTexts {
  readonly #texts = new Map<object, string>();
  readonly #limit = 64;

  of(object: object): string {
    if (!Object.isFrozen(object)) return JSON.stringify(object);
    const known = this.#texts.get(object);
    if (known !== undefined) return known;
    const text = JSON.stringify(object);
    const [oldest] = this.#texts.keys();
    if (oldest && this.#texts.size >= this.#limit) this.#texts.delete(oldest);
    this.#texts.set(object, text);
    return text;
  }
}

type StreamResponse = Extract<ApiResponse, { type: 'stream' }>;

/**
 * How long we wait for the first bytes before we say that all is well. A stream that cannot be opened fails within
 * this, and is answered as any failure; one that has nothing to say yet must not keep its reader waiting for more.
 */
const openingMs = 500;

export async function writeStream(
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  response: StreamResponse,
  signal: AbortSignal,
): Promise<void> {
  if (response.protocol !== 'body') throw new Error(`stream protocol ${response.protocol} has no door yet`);
  const begin = () => {
    if (outgoing.headersSent) return;
    outgoing.writeHead(200, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-cache, private' });
    outgoing.flushHeaders();
  };
  const body = Writable.toWeb(outgoing) as WritableStream<Uint8Array>;
  const writer = body.getWriter();
  const out: ByteStream = {
    readable: new ReadableStream({ start: (controller) => controller.close() }),
    writable: new WritableStream<Uint8Array>({
      write(chunk) {
        begin();
        return writer.ready.then(() => writer.write(chunk));
      },
      close() {
        begin();
        return writer.close();
      },
    }),
  };
  const opening = setTimeout(begin, openingMs);
  try {
    await response.open(new Map([['out', out]]), signal);
  } catch (err) {
    if (outgoing.headersSent) throw err;
    writer.releaseLock();
    await writeObject({ incoming, outgoing }, refusalOf(err));
  } finally {
    clearTimeout(opening);
  }
}
