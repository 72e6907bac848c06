/**
 * The HTTP door: bytes to a request value, a response value to bytes, nothing else. HTTP/1.1, JSON; bodies may come
 * as protobuf too.
 *
 * Every error is answered as a Status. What is going on at once is limited (`in-flight.ts`). A watcher that stops
 * reading is cut off; nothing is buffered beyond what the connection itself holds.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv6 } from 'node:net';
import { Fault, isAbortOf } from '@hutch/base';
import {
  type ApiRequest,
  type ApiResponse,
  type Method,
  StatusFault,
  statusFault,
  type User,
} from '@hutch/kube-meta';
import { anonymous } from '../access/authentication.ts';
import { notAllowed } from '../refusals.ts';
import type { ApiServer } from '../server.ts';
import { writeObject } from './answer.ts';
import { readBody } from './body.ts';
import { type DoorLimits, defaultLimits, InFlight, tooMany } from './in-flight.ts';
import { RecentTexts, writeStream, writeWatch } from './streams.ts';

export interface HttpOptions {
  /** Loopback when absent. */
  readonly host?: string;
  /** Any free port when absent or 0. */
  readonly port?: number;
  /** What differs from the defaults. */
  readonly limits?: Partial<DoorLimits>;
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
  return listen(createServer(limits, ignoringEnd(httpHandler(server, options))), 'http', options);
}

export function serveHttps(server: ApiServer, options: HttpsOptions): Promise<HttpDoor> {
  const { key, cert } = options;
  const tls = { ...limits, key, cert, minVersion: 'TLSv1.2' as const };
  return listen(createTlsServer(tls, ignoringEnd(httpHandler(server, options))), 'https', options);
}

const limits = {
  maxHeaderSize: 64 * 1024, // the path and its query are part of it
  headersTimeout: 30_000,
  requestTimeout: 60_000, // of reading a request; watches are answers and may last
  keepAliveTimeout: 90_000,
  noDelay: true,
};

/** Watches have one each. */
const maxConnections = 10_000;

async function listen(
  http: Server,
  scheme: string,
  { host = '127.0.0.1', port = 0 }: HttpOptions,
): Promise<HttpDoor> {
  http.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    http.once('error', (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'EADDRINUSE' ? 'already-exists' : 'unavailable';
      reject(new Fault(code, `listen on ${host}:${port}: ${cause.message}`, { cause }));
    });
    http.listen({ host, port }, () => {
      http.removeAllListeners('error');
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

export function httpHandler(server: ApiServer, options: Pick<HttpOptions, 'limits'> = {}): HttpHandler {
  const texts = new RecentTexts();
  const inFlight = new InFlight({ ...defaultLimits, ...options.limits });
  return async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    try {
      await exchange(server, { incoming, outgoing, signal: gone.signal, texts, inFlight });
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
  readonly inFlight: InFlight;
}

async function exchange(server: ApiServer, exchanged: Exchange): Promise<void> {
  const { incoming, outgoing, signal, texts, inFlight } = exchanged;
  const asked = readHead(incoming);
  using slot = inFlight.enter(asked);
  let response: ApiResponse;
  try {
    if (!slot) throw tooMany();
    if (!methods.has(asked.method)) throw notAllowed();
    const user = await authenticate(server, incoming);
    // Nobody in particular may write nothing, so their bodies are not worth a byte of memory.
    const body = user === anonymous ? {} : await readBody(incoming, slot);
    response = await server.handle({ ...asked, ...body, user, signal });
  } catch (err) {
    // Only reading a request throws: the handler answers its own failures.
    if (!(err instanceof StatusFault)) throw err;
    response = { type: 'object', status: err.status.code, object: err.status };
  }
  switch (response.type) {
    case 'object':
      return await writeObject(exchanged, response);
    case 'watch':
      return await writeWatch(outgoing, response, { signal, texts });
    case 'stream':
      return await writeStream(exchanged, response, signal);
  }
}

const methods: ReadonlySet<string> = new Set<Method>(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** What a request says before its body. */
function readHead(incoming: IncomingMessage): Omit<ApiRequest, 'user' | 'signal'> {
  const { method = '', headers, url = '/' } = incoming;
  const mark = url.indexOf('?');
  return {
    method: method as Method, // checked before it is used
    path: pathOf(incoming),
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    contentType: headers['content-type'],
    accept: headers.accept,
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
