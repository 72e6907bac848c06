/**
 * The single door to every sandbox: one URL, one token.
 *
 * A request meets, in this order: health, the token exchange, the API's own paths, and then, when it is for a
 * sandbox: its routing headers are read (400), its credential is judged (401, 403), the sandbox is looked up
 * in what the API says (404, 503), and it is forwarded (502). Every step that refuses throws; one place
 * answers.
 *
 * Left out on purpose: lifecycle. The router never creates, changes or deletes a sandbox.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, Fault, type Log } from '@hutch/base';
import { type ApiDoor, isApiRequest, passToApi } from './api-pass-through.ts';
import { authenticate } from './authenticate.ts';
import { type Exchange, type Handler, pathOfRequest } from './exchange.ts';
import type { Keyring } from './keyring.ts';
import { Refusal, reportFaults } from './refusal.ts';
import { resolve } from './resolve.ts';
import type { Reviews } from './reviews.ts';
import type { Routes } from './route-table.ts';
import { readSandboxAddress } from './sandbox-address.ts';
import { exchangeToken, isTokenExchange } from './token-exchange.ts';
import type { Upstreams } from './upstreams.ts';

export interface RouterDeps {
  readonly routes: Routes;
  readonly tokens: Keyring;
  readonly reviews: Reviews;
  readonly upstreams: Upstreams;
  /** Without it, API paths are treated like any other. */
  readonly api?: ApiDoor | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Only for tests and sandboxes on this very machine's loopback. */
  readonly allowLoopback?: boolean;
}

export interface Router {
  /** Never rejects. Settles when the exchange is over. */
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The same for a request that asks to leave HTTP. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

export function createRouter(deps: RouterDeps): Router {
  const handle = reportFaults(deps.log, route(deps));
  return {
    handleRequest(request, response) {
      return handle({ request, response, signal: goneSignal(response) });
    },
    handleUpgrade(request, socket, head) {
      const response = answerOn(request, socket as Socket);
      return handle({ request, response, upgrade: { socket, head }, signal: goneSignal(response) });
    },
  };
}

function route(deps: RouterDeps): Handler {
  const { allowLoopback = false, api, routes, upstreams } = deps;
  return async (exchange) => {
    const { request, signal } = exchange;
    refuseAmbiguous(request);
    if (isProbe(exchange)) return answerProbe(exchange);
    if (isTokenExchange(exchange)) return exchangeToken(deps, exchange);
    if (api && isApiRequest(exchange)) return passToApi(api, exchange);

    const address = readSandboxAddress(request.headers, { allowLoopback });
    const admission = await authenticate(deps, request.headers, address, signal);
    const target = resolve(routes, address, admission, { allowLoopback });
    await upstreams.forward(exchange, target, admission.credentialHeader);
  };
}

/** Two Host lines are read differently by different servers; the parser refuses the other known ambiguities. */
function refuseAmbiguous({ rawHeaders }: IncomingMessage): void {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw new Refusal(400, 'Duplicate Host header.');
}

function isProbe({ request }: Exchange): boolean {
  return pathOfRequest(request) === '/healthz';
}

async function answerProbe({ response }: Exchange): Promise<void> {
  const body = '{"status":"ok"}';
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Fault('unavailable', 'client is gone'));
  });
  return gone.signal;
}

/** A plain answer to an upgrade that does not happen. The connection ends with it: its framing is unknown. */
function answerOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  socket.on('error', () => socket.destroy()); // the HTTP server no longer listens on it
  return response;
}
