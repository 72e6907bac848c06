/** One request and its answer, as it travels through the router. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Present when the client asks to leave HTTP: its socket and what it already sent beyond the head. */
  readonly upgrade?: { readonly socket: Duplex; readonly head: Buffer } | undefined;
  /** Aborted when the client is gone before its answer is complete. */
  readonly signal: AbortSignal;
}

/** The promise settles when the exchange is over, not when the head of the answer was sent. */
export type Handler = (exchange: Exchange) => Promise<void>;

/** True when the client waits for our word before it sends its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

/** The part of the request target before the query, exactly as received. */
export function pathOfRequest(request: IncomingMessage): string {
  const target = request.url ?? '/';
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}
