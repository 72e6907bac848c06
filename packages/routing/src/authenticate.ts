/** Who may enter: the holder of a sandbox token, or of a Kubernetes token that may connect to the sandbox. */
import type { IncomingHttpHeaders } from 'node:http';
import { tokenHeader } from '@hutch/api';
import type { Clock } from '@hutch/base';
import type { Keyring } from './keyring.ts';
import { Refusal } from './refusal.ts';
import type { Reviews } from './reviews.ts';
import { isSandboxToken, keyIdOf, type TokenClaims, verifyToken } from './sandbox-token.ts';

export interface Admission {
  /** What a sandbox token is bound to; resolving the sandbox checks it. Absent for a Kubernetes token. */
  readonly claims: TokenClaims | undefined;
  /** The header that admitted the request, in lower case: it must not reach the sandbox. */
  readonly credentialHeader: string;
}

export interface AuthenticateDeps {
  readonly tokens: Keyring;
  readonly reviews: Reviews;
  readonly clock: Clock;
}

const unauthenticated = () => new Refusal(401, 'unauthenticated');
const forbidden = () => new Refusal(403, 'forbidden');

/** Throws 401 for no or no good credential, 403 for one of another sandbox. */
export async function authenticate(
  { tokens, reviews, clock }: AuthenticateDeps,
  headers: IncomingHttpHeaders,
  sandbox: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Admission> {
  const credential = credentialOf(headers);
  if (!credential) throw unauthenticated();
  const { token, header: credentialHeader } = credential;

  if (!isSandboxToken(token)) {
    const review = await reviews.review(token, sandbox, signal);
    if (review === 'unauthenticated') throw unauthenticated();
    if (review === 'forbidden') throw forbidden();
    return { claims: undefined, credentialHeader };
  }

  const id = keyIdOf(token);
  const secret = id === undefined ? undefined : await tokens.find(id, signal);
  const verification = verifyToken(token, secret, clock.now());
  if (verification.outcome !== 'valid') throw unauthenticated();
  const { claims } = verification;
  if (claims.namespace !== sandbox.namespace || claims.name !== sandbox.name) throw forbidden();
  return { claims, credentialHeader };
}

/** Our own header is asked first, so that Authorization stays free for the program in the sandbox. */
function credentialOf(headers: IncomingHttpHeaders): { token: string; header: string } | undefined {
  const own = headers[tokenHeader] as string | undefined;
  if (own) return { token: own, header: tokenHeader };
  const token = bearerOf(headers);
  return token === undefined ? undefined : { token, header: 'authorization' };
}

export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  const match = /^bearer (.*)$/i.exec(headers.authorization ?? '');
  return match?.[1]?.trim() || undefined;
}
