/** Who is asking, from the headers of an HTTP request. In-process callers say it themselves. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { User } from '@hutch/kube-meta';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Undefined when the headers prove nothing. */
export type Authenticator = (headers: Headers) => User | undefined | Promise<User | undefined>;

export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

export interface TokenUser {
  readonly token: string;
  readonly user: User;
}

/** Fixed bearer tokens. Takes the same time for a wrong token as for a right one. */
export function bearerTokens(tokens: readonly TokenUser[]): Authenticator {
  const known = tokens.map(({ token, user }) => ({ digest: digestOf(token), user }));
  return ({ authorization }) => {
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    let found: User | undefined;
    // Every entry is compared, and as digests: neither the length nor the place of a match can be timed.
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry.user;
    return found;
  };
}

function bearerToken(authorization: string | readonly string[] | undefined): string | undefined {
  if (typeof authorization !== 'string') return undefined;
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
