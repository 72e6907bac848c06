/** The smallest HTTP door for a scripted handler: what the suite needs to run over real connections. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Handle, Method } from '@hutch/kube-meta';

const user = { name: 'tester', groups: [] };

export interface TestDoor extends AsyncDisposable {
  readonly url: string;
  /** Cuts every connection without a word. */
  cut(): void;
}

export async function openTestDoor(handle: Handle): Promise<TestDoor> {
  const server = createServer((request, response) => {
    answer(handle, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(handle: Handle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const url = new URL(request.url ?? '/', 'http://door');
  const body = await text(request);
  const result = await handle({
    method: request.method as Method,
    path: url.pathname,
    query: url.searchParams,
    ...(body === '' ? {} : { body: JSON.parse(body) as unknown }),
    contentType: request.headers['content-type'],
    accept: request.headers.accept,
    user,
    signal: gone.signal,
  });
  if (result.type === 'object') {
    const isText = typeof result.object === 'string';
    response.writeHead(result.status, { 'content-type': isText ? 'text/plain' : 'application/json' });
    response.end(isText ? result.object : JSON.stringify(result.object));
  } else if (result.type === 'watch') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for await (const event of result.events) response.write(`${JSON.stringify(event)}\n`);
    response.end();
  }
}
