/**
 * The HTTP door: bytes to a request value, a response value to bytes, nothing else. HTTP/1.1, JSON.
 *
 * Every error is answered as a Status. A watcher that stops reading is cut off; nothing is buffered beyond what
 * the connection itself holds.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import { isAbortOf } from '@hutch/base';
import {
  type ApiRequest,
  type ApiResponse,
  type Method,
  type Status,
  StatusFault,
  statusFault,
  type User,
} from '@hutch/kube-meta';
import { anonymous } from '../access/authentication.ts';
import type { ApiServer } from '../server.ts';
import { readJsonBody } from './body.ts';
import { RecentTexts, writeStream, writeWatch } from './streams.ts';

export interface HttpOptions {
  /** Loopback when absent. */
  readonly host?: string;
  /** Any free port when absent or 0. */
  readonly port?: number;
}

export interface HttpsOptions extends HttpOptions {
  readonly key: string;
  readonly cert: string;
}

/** Closing ends every connection, also those in use: clients of an API server come back by themselves. */
export interface HttpDoor extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** Without TLS: for tests, and for a trusted wire. */
export function serveHttp(server: ApiServer, options: HttpOptions = {}): Promise<HttpDoor> {
  return listen(createServer(limits, ignoringEnd(httpHandler(server))), 'http', options);
}

export function serveHttps(server: ApiServer, options: HttpsOptions): Promise<HttpDoor> {
  const { key, cert } = options;
  const tls = { ...limits, key, cert, minVersion: 'TLSv1.2' as const };
  return listen(createTlsServer(tls, ignoringEnd(httpHandler(server))), 'https', options);
}

const limits = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 30_000,
  requestTimeout: 60_000, // of reading a request; watches are answers and may last
  keepAliveTimeout: 90_000,
  noDelay: true,
};

async function listen(
  http: Server,
  scheme: string,
  { host = '127.0.0.1', port = 0 }: HttpOptions,
): Promise<HttpDoor> {
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen({ host, port }, () => {
      http.off('error', reject);
      resolve();
    });
  });
  const address = http.address() as AddressInfo;
  return {
    host,
    port: address.port,
    url: `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** The door without its listener, for a program that has one already. Settles when the exchange is over. */
export type HttpHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

export function httpHandler(server: ApiServer): HttpHandler {
  const texts = new RecentTexts();
  return async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    try {
      await exchange(server, { incoming, outgoing, signal: gone.signal, texts });
    } catch (err) {
      if (!isAbortOf(gone.signal, err)) server.log.error('exchange failed', { url: pathOf(incoming), err });
      outgoing.destroy();
    }
  };
}

/** A listener has no use for the end of an exchange. */
function ignoringEnd(handler: HttpHandler) {
  return (incoming: IncomingMessage, outgoing: ServerResponse) => void handler(incoming, outgoing);
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly signal: AbortSignal;
  readonly texts: RecentTexts;
}

async function exchange(server: ApiServer, { incoming, outgoing, signal, texts }: Exchange): Promise<void> {
  let response: ApiResponse;
  try {
    response = await server.handle(await readRequest(server, incoming, signal));
  } catch (err) {
    // Only reading a request throws: the handler answers its own failures.
    if (!(err instanceof StatusFault)) throw err;
    response = { type: 'object', status: err.status.code, object: err.status };
  }
  switch (response.type) {
    case 'object':
      return writeObject(outgoing, response, incoming.method === 'HEAD');
    case 'watch':
      return writeWatch(outgoing, response.events, { signal, texts });
    case 'stream':
      return writeStream(outgoing, response, signal);
  }
}

const methods: ReadonlySet<string> = new Set<Method>(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

async function readRequest(
  server: ApiServer,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<ApiRequest> {
  const { method = '', headers, url = '/' } = incoming;
  if (!methods.has(method)) throw statusFault('methodNotAllowed', `method ${method} is not supported`);
  const user = await authenticate(server, incoming);
  const contentType = headers['content-type'];
  // Nobody in particular may write nothing, so their bodies are not worth a byte of memory.
  const body = user === anonymous ? undefined : await readJsonBody(incoming, contentType);
  const mark = url.indexOf('?');
  return {
    method: method as Method,
    path: pathOf(incoming),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    ...(body === undefined ? {} : { body }),
    contentType,
    accept: headers.accept,
    user,
    signal,
  };
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** Nobody in particular may still ask for health; who brings a credential must bring a good one. */
async function authenticate({ authenticator }: ApiServer, { headers }: IncomingMessage): Promise<User> {
  const user = await authenticator(headers);
  if (user) return user;
  if (headers.authorization === undefined) return anonymous;
  throw statusFault('unauthorized', 'Unauthorized');
}

type ObjectResponse = Extract<ApiResponse, { type: 'object' }>;

function writeObject(outgoing: ServerResponse, response: ObjectResponse, isHead: boolean): void {
  const { status, object, headers, warnings } = response;
  const isText = typeof object === 'string';
  const body = isText ? object : `${JSON.stringify(object)}\n`;
  for (const [name, value] of Object.entries(headers ?? {})) outgoing.setHeader(name, value);
  if (warnings && warnings.length > 0) {
    outgoing.setHeader(
      'Warning',
      warnings.map((warning) => `299 - ${JSON.stringify(warning)}`),
    );
  }
  const retryAfter = isText ? undefined : (object as Partial<Status>).details?.retryAfterSeconds;
  if (status >= 400 && retryAfter !== undefined) outgoing.setHeader('Retry-After', String(retryAfter));
  outgoing.writeHead(status, {
    'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-cache, private',
  });
  outgoing.end(isHead ? undefined : body);
}
