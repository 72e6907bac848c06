/**
 * The router's own answers to what it will not forward, in the form every client of the original router
 * knows: `{"detail": …}` and a new line.
 */
import type { ServerResponse } from 'node:http';
import { Fault, type FaultCode, type Log, messageOf } from '@hutch/base';
import { discardRest } from './discard.ts';
import type { Exchange, Handler } from './exchange.ts';

const faultCodes: Readonly<Record<number, FaultCode>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  405: 'unsupported',
  413: 'too-large',
  429: 'too-many-requests',
  502: 'unavailable',
  503: 'unavailable',
  504: 'timeout',
};

/** Thrown by any step to end the exchange with this answer. The message is what the client reads. */
export class Refusal extends Fault {
  override readonly name: string = 'Refusal';
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, detail: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(faultCodes[status] ?? 'internal', detail, options);
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Runs `next`; whatever it throws becomes an answer, or a broken connection once an answer has begun. */
export function reportFaults(log: Log, next: Handler): Handler {
  return async (exchange) => {
    try {
      await next(exchange);
    } catch (err) {
      if (exchange.signal.aborted) return; // nobody is left to be told
      const refusal = err instanceof Refusal ? err : new Refusal(500, 'internal error', { cause: err });
      report(log, exchange, refusal);
      try {
        refuse(exchange, refusal);
      } catch (failure) {
        // Whatever a sandbox made of this answer, it must not become anybody else's failure.
        log.error('could not refuse', { err: failure });
        exchange.response.destroy();
      }
    }
  };
}

/** The client's mistakes are its own business; what it was denied, and what failed on our side, is ours. */
function report(log: Log, { request }: Exchange, refusal: Refusal): void {
  if (refusal.status < 500 && refusal.status !== 401 && refusal.status !== 403) return;
  const fields = {
    method: request.method,
    sandbox: request.headers['x-sandbox-id'],
    namespace: request.headers['x-sandbox-namespace'],
    status: refusal.status,
    detail: refusal.message,
    ...(refusal.cause === undefined ? {} : { cause: messageOf(refusal.cause) }),
  };
  if (refusal.status === 500) log.error('request failed', { ...fields, err: refusal.cause });
  else log.warn('request refused', fields);
}

function refuse({ request, response }: Exchange, refusal: Refusal): void {
  if (response.headersSent) {
    response.destroy(); // half an answer must not look like a whole one
    return;
  }
  response.statusMessage = ''; // what an answer that failed half-way has left
  const headers: Record<string, string> = {};
  if (refusal.retryAfterSeconds !== undefined) headers['Retry-After'] = String(refusal.retryAfterSeconds);
  sendJson(response, refusal.status, { detail: refusal.message }, { headers, newLine: true });
  discardRest(request);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  { headers = {}, newLine = false }: { headers?: Record<string, string>; newLine?: boolean } = {},
): void {
  const text = JSON.stringify(body) + (newLine ? '\n' : '');
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
