/** A lock between all homes of a machine that leaves nothing behind and falls open when its holder dies. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Fault } from '@hutch/base';
import { isErrno } from '../files.ts';

/**
 * Held as a listening socket without a file (an abstract name, which belongs to the network namespace just as
 * the settings it guards do). Those who wait are connected to it and wake when the holder closes or dies.
 * Rejects with a `timeout` fault when it cannot be had in time: any local user could sit on the name.
 */
export async function withMachineLock<T>(
  name: string,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(timeoutMs);
  for (;;) {
    const held = await tryHold(name);
    if (held) {
      try {
        return await work();
      } finally {
        held.release();
      }
    }
    if (deadline.aborted) throw new Fault('timeout', `take the machine-wide lock ${name}`);
    await released(name, deadline);
  }
}

interface Held {
  release(): void;
}

function tryHold(name: string): Promise<Held | undefined> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>();
    const server: Server = createServer((socket) => {
      waiting.add(socket);
      socket.on('error', () => {}); // a waiter that gave up
      socket.once('close', () => waiting.delete(socket));
    });
    server.once('error', (err) => (isErrno(err, 'EADDRINUSE') ? resolve(undefined) : reject(err)));
    server.listen({ path: `\0hutch-${name}` }, () =>
      resolve({
        release: () => {
          server.close();
          for (const socket of waiting) socket.destroy();
        },
      }),
    );
  });
}

/** Resolves when the holder let go, or the deadline passed. */
function released(name: string, deadline: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ path: `\0hutch-${name}`, signal: deadline });
    socket.once('error', () => resolve()); // refused: the holder is gone already
    socket.once('close', () => resolve());
    socket.resume();
  });
}
