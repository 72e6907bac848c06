/** The router's listener. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '@hutch/base';
import { hasToken } from './forwarded-headers.ts';
import type { Router } from './router.ts';

export interface ServeRouterOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Each may hold two file descriptors, one per side. */
  readonly maxConnections?: number;
  /** Connections silent for longer are closed. */
  readonly idleMs?: number;
}

export interface RouterServer extends AsyncDisposable {
  readonly url: string;
  /** Stops listening, lets running exchanges end for at most `graceMs`, then cuts them. Tunnels are cut. */
  close(graceMs?: number): Promise<void>;
}

export async function serveRouter(router: Router, options: ServeRouterOptions): Promise<RouterServer> {
  const { host, port, maxConnections = 9_000, idleMs = 3_600_000 } = options;
  const running = new Set<Promise<void>>();
  const tunnels = new Set<Duplex>();
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 0, // a body may take as long as it keeps coming
    connectionsCheckingInterval: 5_000,
    keepAliveTimeout: 120_000,
    noDelay: true,
    shouldUpgradeCallback: isUpgrade,
  });
  server.maxConnections = maxConnections;
  server.setTimeout(idleMs);

  const track = (work: Promise<void>) => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.shouldKeepAlive = false;
    track(router.handleRequest(request, response));
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest); // the body is asked for once the request is admitted
  server.on('upgrade', (request, socket, head) => {
    tunnels.add(socket);
    socket.once('close', () => tunnels.delete(socket));
    void router.handleUpgrade(request, socket, head);
  });
  await listen(server, host, port);

  const close = async (graceMs = 10_000) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of tunnels) socket.destroy();
    await withinMs(graceMs, Promise.all(running));
    server.closeAllConnections();
    await closed;
  };
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  return { url, close, [Symbol.asyncDispose]: () => close() };
}

/** An upgrade with a body has no agreed framing; it is then an ordinary request, as HTTP allows. */
function isUpgrade({ headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasToken(headers.connection, 'upgrade') && Boolean(headers.upgrade) && !hasBody;
}

function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'EADDRINUSE' ? 'already-exists' : 'unavailable';
      reject(new Fault(code, `listen on ${host}:${port} for the router: ${cause.message}`, { cause }));
    };
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

async function withinMs(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
