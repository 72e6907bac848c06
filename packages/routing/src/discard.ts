import type { IncomingMessage } from 'node:http';

/** A client still sending more than this after its answer is cut off. */
const discardedBytes = 1 << 20;
/** And so is one that takes longer: its answer has long arrived. */
const discardMs = 5_000;

/**
 * Lets a client that is still sending read its answer. Closing at once would reset the connection under it,
 * and leaving the rest unread would block the connection for good.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  let left = discardedBytes;
  const timer = setTimeout(() => socket.destroy(), discardMs).unref();
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  request.resume();
}
