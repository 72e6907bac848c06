/**
 * Carries an exchange to a sandbox and its answer back, byte for byte and without holding more than a few
 * buffers of either body.
 *
 * Guarantees: a dial that fails is tried again, since nothing of the request was sent yet; anything later is
 * never sent twice. There is no limit on the total time, only on silence.
 * Assumes: HTTP/1.1 on both sides. Trailers of a request are dropped, and a body's head goes out with its
 * first byte (both are limits of the client library).
 * On abort: the connection to the sandbox is closed at once.
 */

import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { Backoff, type Clock, type Log, messageOf, raceAbort } from '@hutch/base';
import type { Dispatcher } from 'undici';
// Not the root of undici: that also loads its fetch, caches and sockets, 50 ms of every start of a home.
import Agent from 'undici/lib/dispatcher/agent.js';
import { discardRest } from './discard.ts';
import type { Exchange } from './exchange.ts';
import { headersForSandbox } from './forwarded-headers.ts';
import { authorityOf } from './pod-address.ts';
import { Refusal } from './refusal.ts';
import { Relay } from './relay.ts';
import type { Target } from './resolve.ts';

export interface Upstreams {
  /** Settles when the exchange is over; rejects with a `Refusal` when the sandbox did not answer. */
  forward(exchange: Exchange, target: Target, credentialHeader: string): Promise<void>;
  /** Closes every connection to a sandbox. */
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long a sandbox may think before its answer begins. */
  readonly headersTimeoutMs?: number;
  /** How long both sides may be silent once it has begun. */
  readonly idleMs?: number;
  readonly connectTimeoutMs?: number;
  readonly maxRetries?: number;
}

const firstRetryMs = 200;
const maxRetryMs = 800;

export function openUpstreams({
  clock,
  log,
  headersTimeoutMs = 180_000,
  idleMs = 3_600_000,
  connectTimeoutMs = 5_000,
  maxRetries = 3,
}: UpstreamOptions): Upstreams {
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    headersTimeout: headersTimeoutMs,
    bodyTimeout: idleMs,
    keepAliveTimeout: 30_000,
    connect: { timeout: connectTimeoutMs },
  });

  return {
    async forward(exchange, target, credentialHeader) {
      const { signal } = exchange;
      const backoff = new Backoff(firstRetryMs, maxRetryMs);
      for (let retriesLeft = maxRetries; ; retriesLeft--) {
        const relay = new Relay(exchange, { body: bodyOf(exchange), idleMs });
        agent.dispatch(dispatchOptions(exchange, target, { credentialHeader, relay }), relay);
        try {
          await raceAbort(relay.done, signal);
          return discardRest(exchange.request); // an answer may come before the request is over
        } catch (err) {
          if (signal.aborted) return;
          if (!isDialFailure(err, relay) || retriesLeft === 0) throw refusalOf(err, exchange, target);
          log.debug('dialing a sandbox again', { sandbox: target.sandbox, err: messageOf(err) });
          await clock.sleep(backoff.nextMs(), signal);
        }
      }
    },
    close: () => agent.destroy(),
  };
}

function dispatchOptions(
  { request, upgrade }: Exchange,
  target: Target,
  { credentialHeader, relay }: { credentialHeader: string; relay: Relay },
): Dispatcher.DispatchOptions {
  const authority = authorityOf(target.host, target.port);
  return {
    origin: `http://${authority}`,
    path: originForm(request.url ?? '/'),
    method: request.method as Dispatcher.HttpMethod,
    headers: headersForSandbox(request, { authority, credentialHeader, isUpgrade: upgrade !== undefined }),
    body: relay.body,
    upgrade: upgrade ? (request.headers.upgrade ?? null) : null,
  };
}

/** A client that takes us for a forward proxy names the whole URL; a sandbox expects the path. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (!match) throw new Refusal(400, 'Invalid request target.');
  const path = match[1] as string;
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * The request body as a stream of its own: the client library destroys what it is given, and the request
 * must outlive that to carry the answer.
 */
function bodyOf({ request, upgrade }: Exchange): PassThrough | null {
  if (upgrade || !hasBody(request)) return null;
  const body = new PassThrough();
  body.on('error', () => {}); // told by the exchange; without a listener it would end the program
  return body;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isDialFailure(err: unknown, relay: Relay): boolean {
  if (relay.isConnected) return false;
  const { syscall, code } = err as NodeJS.ErrnoException;
  return syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT';
}

function refusalOf(cause: unknown, { request, response }: Exchange, target: Target): unknown {
  if (response.headersSent) return cause;
  if ((cause as NodeJS.ErrnoException).code === 'UND_ERR_INVALID_ARG') {
    return new Refusal(400, `${request.method} request cannot be forwarded: ${messageOf(cause)}`, { cause });
  }
  return new Refusal(502, `Could not connect to the backend sandbox: ${target.name}`, { cause });
}
