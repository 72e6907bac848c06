/** After an upgrade: bytes both ways, never looked at. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface TunnelOptions {
  /** A tunnel silent for longer is closed. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** Settles when both ends are closed. A side that only stops sending may still receive. */
export async function tunnel(
  client: { readonly socket: Duplex; readonly head: Buffer },
  sandbox: Duplex,
  { idleMs, signal }: TunnelOptions,
): Promise<void> {
  const ends = [client.socket, sandbox] as const;
  const destroy = () => {
    for (const end of ends) end.destroy();
  };
  // Every byte passes the client's socket, so its silence is the tunnel's.
  (client.socket as Socket).setTimeout(idleMs, destroy);
  signal.addEventListener('abort', destroy, { once: true });
  if (client.head.length > 0) sandbox.write(client.head);
  client.socket.pipe(sandbox);
  sandbox.pipe(client.socket);
  try {
    await Promise.all([closing(client.socket, sandbox), closing(sandbox, client.socket)]);
  } finally {
    signal.removeEventListener('abort', destroy);
  }
}

/** When one end is gone, what it sent still flushes to the other, which then closes too. */
function closing(end: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    end.on('error', () => other.destroy());
    end.once('close', () => {
      if (end.readableEnded && !end.errored) other.end();
      else other.destroy();
      resolve();
    });
  });
}
