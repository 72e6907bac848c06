/** Asks the API who a Kubernetes bearer token belongs to and whether they may connect to a sandbox. */
import { createHash } from 'node:crypto';
import { sandboxes } from '@hutch/api';
import { type Clock, messageOf, raceAbort } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import type { KubeObject, Resource } from '@hutch/kube-meta';
import { ExpiringCache } from './expiring-cache.ts';
import { Refusal } from './refusal.ts';

export type Review = 'allowed' | 'unauthenticated' | 'forbidden';

export interface Reviews {
  /** May the holder of this token connect to this sandbox? The answer may be seconds old. */
  review(
    token: string,
    sandbox: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<Review>;
}

export interface ReviewsDeps {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
}

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

interface SubjectAccessReview extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly allowed?: boolean };
}

const tokenReviews: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
};

const subjectAccessReviews: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};

/** A withdrawn token or role is refused this much later at most. */
const ttlMs = 5_000;
const capacity = 2_048;
const callTimeoutMs = 3_000;

export function createReviews({ client, clock }: ReviewsDeps): Reviews {
  const answers = new ExpiringCache<Review>({ clock, capacity, ttlMs });
  return {
    review(token, { namespace, name }, signal) {
      // Hashed, so that memory never holds a list of credentials.
      const key = createHash('sha256').update(`${namespace}/${name}\n${token}`).digest('base64');
      return raceAbort(
        answers.get(key, () => ask(client, token, { namespace, name })),
        signal,
      );
    },
  };
}

async function ask(
  client: ReviewsDeps['client'],
  token: string,
  sandbox: { readonly namespace: string; readonly name: string },
): Promise<Review> {
  const options = { signal: AbortSignal.timeout(callTimeoutMs) };
  const { status } = await telling(
    'tokenreview',
    client.create<TokenReview>(
      tokenReviews,
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } },
      options,
    ),
  );
  if (status?.authenticated !== true || !status.user?.username) return 'unauthenticated';
  const { username, uid, groups, extra } = status.user;
  const access = await telling(
    'subjectaccessreview',
    client.create<SubjectAccessReview>(
      subjectAccessReviews,
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        metadata: {},
        spec: {
          user: username,
          ...(uid === undefined ? {} : { uid }),
          ...(groups === undefined ? {} : { groups }),
          ...(extra === undefined ? {} : { extra }),
          resourceAttributes: {
            verb: 'create',
            group: sandboxes.group,
            resource: sandboxes.plural,
            subresource: 'connect',
            ...sandbox,
          },
        },
      },
      options,
    ),
  );
  return access.status?.allowed === true ? 'allowed' : 'forbidden';
}

/** A review that could not be had is not a denial: the caller learns that it may ask again. */
async function telling<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw new Refusal(500, `${what}: ${messageOf(cause)}`, { cause });
  }
}
