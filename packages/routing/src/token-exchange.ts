/** `POST /hutch/v1/tokens`: a Kubernetes token that may connect to a sandbox, for a sandbox token. */
import { type TokenGrant, type TokenRequest, tokenExchangePath } from '@hutch/api';
import type { Clock } from '@hutch/base';
import { bearerOf } from './authenticate.ts';
import { awaitsContinue, type Exchange, pathOfRequest } from './exchange.ts';
import { type Keyring, maxTokenSeconds } from './keyring.ts';
import { Refusal, sendJson } from './refusal.ts';
import type { Reviews } from './reviews.ts';
import type { Routes } from './route-table.ts';
import { isDnsLabel } from './sandbox-address.ts';
import { signToken } from './sandbox-token.ts';

const defaultTokenSeconds = 3600;
const maxBodyBytes = 16 << 10;

export interface TokenExchangeDeps {
  readonly routes: Routes;
  readonly tokens: Keyring;
  readonly reviews: Reviews;
  readonly clock: Clock;
}

export function isTokenExchange({ request }: Exchange): boolean {
  return pathOfRequest(request) === tokenExchangePath;
}

export async function exchangeToken(deps: TokenExchangeDeps, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  if (request.method !== 'POST') throw new Refusal(405, 'Method Not Allowed');
  const bearer = bearerOf(request.headers);
  if (bearer === undefined) throw new Refusal(401, 'unauthenticated');
  if (awaitsContinue(request)) response.writeContinue();
  const wish = tokenRequestOf(await readJson(exchange));

  const review = await deps.reviews.review(bearer, wish, signal);
  if (review === 'unauthenticated') throw new Refusal(401, 'unauthenticated');
  if (review === 'forbidden') throw new Refusal(403, 'forbidden');

  const route = deps.routes.lookup(wish.namespace, wish.name);
  if (!route) throw new Refusal(404, `sandbox ${wish.namespace}/${wish.name} not found`);
  const seconds = Math.min(wish.expiresInSeconds ?? defaultTokenSeconds, maxTokenSeconds);
  const expiresAt = Math.floor(deps.clock.now().getTime() / 1000) + seconds;
  const { uid, claimUid } = route;
  const token = signToken(
    { namespace: wish.namespace, name: wish.name, uid, claimUid, expiresAt },
    await deps.tokens.signing(signal),
  );
  const grant: TokenGrant = { token, expiresAt: new Date(expiresAt * 1000).toISOString() };
  sendJson(response, 200, grant, { headers: { 'Cache-Control': 'no-store' } });
}

function tokenRequestOf(value: unknown): TokenRequest {
  const { namespace, name, expiresInSeconds } = (value ?? {}) as Record<string, unknown>;
  if (typeof namespace !== 'string' || !isDnsLabel(namespace)) {
    throw new Refusal(400, 'namespace must be a DNS label');
  }
  if (typeof name !== 'string' || !isDnsLabel(name)) throw new Refusal(400, 'name must be a DNS label');
  if (expiresInSeconds === undefined) return { namespace, name };
  if (!Number.isSafeInteger(expiresInSeconds) || (expiresInSeconds as number) < 1) {
    throw new Refusal(400, 'expiresInSeconds must be a whole number of at least 1');
  }
  return { namespace, name, expiresInSeconds: expiresInSeconds as number };
}

async function readJson({ request }: Exchange): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Refusal(413, `request body is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch (cause) {
    throw new Refusal(400, 'request body is not JSON', { cause });
  }
}
