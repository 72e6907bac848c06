import { createServer, type Server } from 'node:http';
import { type Log, messageOf } from '@hutch/base';
import type { ProcessTable } from '../processes/process-table.ts';
import { sendJson } from './json.ts';
import { processRoutes } from './process-routes.ts';
import { type Route, routerOf } from './router.ts';

/** Clients of every kind look for exactly this; it is also the readiness probe. */
const greeting: Route = {
  method: 'GET',
  path: '/',
  handle: async ({ response }) => sendJson(response, { status: 'ok', message: 'Sandbox Runtime is active.' }),
};

export function runtimeServer(table: ProcessTable, log: Log): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 0, // stdin is a request body, and may take as long as its process
      keepAliveTimeout: 75_000, // longer than proxies keep a connection, so that they close it, not we
    },
    routerOf([greeting, ...processRoutes(table)], log),
  );
  server.maxConnections = 1024;
  return server;
}

/** Resolves with the port when connections are accepted. */
export function listen(
  server: Server,
  address: { readonly port: number; readonly host?: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`listen on port ${address.port}: ${messageOf(cause)}`, { cause })),
    );
    server.listen({ ...address }, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound ? bound.port : address.port);
    });
  });
}
