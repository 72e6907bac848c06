import { Fault } from '@hutch/base';
import { type Answer, type BodyReader, reasonOf } from './http.ts';

/**
 * The chunks of a response body. A body that breaks off rejects with an `unavailable` fault; leaving early
 * cancels it.
 */
export async function* chunksOf(
  response: Answer,
  doing: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await read(reader, doing, signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // it may be broken already
  }
}

async function read(
  reader: BodyReader,
  doing: string,
  signal: AbortSignal,
): Promise<{ done: false; value: Uint8Array } | { done: true; value: undefined }> {
  try {
    return (await reader.read()) as { done: false; value: Uint8Array } | { done: true; value: undefined };
  } catch (cause) {
    signal.throwIfAborted();
    throw new Fault('unavailable', `${doing}: connection cut: ${reasonOf(cause)}`, { cause });
  }
}
