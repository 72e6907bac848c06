/**
 * A server reached over HTTP or HTTPS.
 *
 * Verbs share one small pool (HTTP/2 where the server offers it). Each watch has an HTTP/1.1 connection
 * of its own: a slow reader then holds up nobody else, and reading one is a quarter cheaper.
 */
import { Fault, messageOf } from '@hutch/base';
import type { ApiResponse, ResponseObject, WatchEvent } from '@hutch/kube-meta';
import type { Agent, Dispatcher, request } from 'undici';
import type { Transport } from './client.ts';
import { LineSplitter } from './line-splitter.ts';

export interface HttpOptions {
  /** Origin of the server, such as `https://127.0.0.1:6443`. */
  readonly url: string;
  /** The certificate authority to trust, PEM. The system's own when absent. */
  readonly ca?: string | undefined;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
}

/** Disposing it closes every connection; calls and watches under way fail as `unavailable`. */
export type HttpTransport = Transport & AsyncDisposable;

/** Requests beyond these wait in line; with HTTP/2 one connection carries them all. */
const verbConnections = 16;
/** The largest answer that is still read: the longest string the engine can hold. */
const maxAnswerBytes = 2 ** 29 - 2 ** 16;
/** Far above the 1.5 MB an API server stores of one object. */
const maxEventBytes = 64 * 2 ** 20;
/** A watch silent for this long past its own time limit has lost its server. */
const watchGraceMs = 30_000;

export function overHttp({ url, ca, token }: HttpOptions): HttpTransport {
  const origin = url.replace(/\/+$/, '');
  let wire: Promise<Wire> | undefined;

  const transport: Transport = async (asked) => {
    const isWatch = asked.query.get('watch') === 'true';
    const query = asked.query.size === 0 ? '' : `?${asked.query}`;
    const doing = `${asked.method} ${origin}${asked.path}`;
    wire ??= openWire(ca);
    const { send, verbs, watches } = await wire;
    try {
      const answer = await send(`${origin}${asked.path}${query}`, {
        dispatcher: isWatch ? watches : verbs,
        method: asked.method,
        headers: headersOf(asked, token),
        body: asked.body === undefined ? null : JSON.stringify(asked.body),
        signal: asked.signal,
        ...(isWatch ? { bodyTimeout: silenceLimitMs(asked.query) } : {}),
      });
      if (isWatch && answer.statusCode === 200) {
        return { type: 'watch', events: readEvents(answer.body, doing, asked.signal) };
      }
      return await readObject(answer);
    } catch (err) {
      throw asFault(err, doing, asked.signal);
    }
  };

  return Object.assign(transport, {
    async [Symbol.asyncDispose]() {
      const open = await wire;
      await Promise.all([open?.verbs.destroy(), open?.watches.destroy()]);
    },
  });
}

interface Wire {
  readonly send: typeof request;
  readonly verbs: Agent;
  readonly watches: Agent;
}

/** Loaded with the first request: a home that only talks to itself is spared undici's start-up and memory. */
async function openWire(ca: string | undefined): Promise<Wire> {
  const undici = await import('undici');
  const connect = ca === undefined ? {} : { ca };
  return {
    send: undici.request,
    verbs: new undici.Agent({ connect, connections: verbConnections, maxResponseSize: maxAnswerBytes }),
    watches: new undici.Agent({ connect, allowH2: false, pipelining: 1 }),
  };
}

function headersOf(request: Parameters<Transport>[0], token: string | undefined): Record<string, string> {
  return {
    accept: request.accept ?? 'application/json',
    ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

function silenceLimitMs(query: URLSearchParams): number {
  const seconds = Number(query.get('timeoutSeconds'));
  return seconds > 0 ? seconds * 1000 + watchGraceMs : 0; // 0: no limit was asked for
}

async function readObject({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<ApiResponse> {
  const text = await body.text();
  const isJson = String(headers['content-type'] ?? '').includes('json');
  const object = isJson && text !== '' ? (JSON.parse(text) as ResponseObject) : text;
  const warnings = [headers.warning ?? []].flat();
  return { type: 'object', status: statusCode, object, ...(warnings.length > 0 ? { warnings } : {}) };
}

async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  doing: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, void> {
  const splitter = new LineSplitter(maxEventBytes);
  try {
    for await (const chunk of body) {
      for (const line of splitter.push(chunk)) {
        if (line !== '') yield JSON.parse(line) as WatchEvent;
      }
    }
  } catch (err) {
    throw asFault(err, `watch ${doing}`, signal);
  }
  if (splitter.isInsideLine) throw new Fault('unavailable', `watch ${doing} ended in the middle of an event`);
}

/** Whatever the connection did, callers see: their own abort, or `unavailable`. */
function asFault(err: unknown, doing: string, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error;
  if (err instanceof Fault) return err;
  if (err instanceof SyntaxError) {
    return new Fault('internal', `${doing} answered what is not JSON`, { cause: err });
  }
  return new Fault('unavailable', `${doing}: ${messageOf(err)}`, { cause: err });
}
