import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which the kernel gives ports to outgoing connections, so that between our look and a
 * server's start only another server could take it; and at random, so that two rigs look in different places.
 */
const lowest = 20_000;
const highest = 32_000;
const attempts = 50;

/** A port of 127.0.0.1 where nobody listens. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`find a free port between ${lowest} and ${highest}: ${attempts} were taken`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port });
    await once(server, 'listening');
    return true;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw err;
  } finally {
    server.close();
  }
}
