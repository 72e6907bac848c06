/**
 * The keys that sign sandbox tokens: one Secret, shared by every router of a home.
 *
 * Flow: the first router to need a key creates the Secret; the newest key signs, all keys verify; a key that
 * grew old gets a successor, and leaves once no token it signed can still be valid.
 * Guarantees: of two routers that create or rotate at once, one wins and the other uses its keys. A key
 * removed from the Secret is refused within `freshMs`; a key added by another router is known at first sight.
 * Caveat: while the API cannot be reached, keys are trusted for `trustedMs` more.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, Fault, isFault, type Log, messageOf, raceAbort } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { type Draft, keyText, type Secret, secrets } from '@hutch/kube-meta';
import type { SigningKey } from './sandbox-token.ts';

export interface Keyring {
  /** The key that signs new tokens. */
  signing(signal: AbortSignal): Promise<SigningKey>;
  /** The secret of this key, if it still is one of ours. */
  find(id: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

export interface KeyringDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>;
  readonly clock: Clock;
  readonly log: Log;
}

export const keysSecret = { namespace: 'agent-sandbox-system', name: 'hutch-router-keys' } as const;

/** No token may live longer than this. */
export const maxTokenSeconds = 24 * 3600;

const secretBytes = 32;
const rotateAfterMs = 30 * 24 * 3600 * 1000;
/** Longer than any token, so that a successor's predecessors verify until their last token is over. */
const overlapMs = 2 * maxTokenSeconds * 1000;
const freshMs = 5_000;
const trustedMs = 300_000;
/** Garbage key ids must not turn into as many reads of the Secret. */
const rereadMs = 1_000;
const readTimeoutMs = 3_000;

export function createKeyring({ client, clock, log }: KeyringDeps): Keyring {
  let cached: { readonly keys: readonly SigningKey[]; readonly at: number } | undefined;
  let reading: Promise<readonly SigningKey[]> | undefined;

  const age = () => (cached ? clock.now().getTime() - cached.at : Number.POSITIVE_INFINITY);

  async function read(): Promise<readonly SigningKey[]> {
    const known = cached;
    try {
      const keys = await readKeys(client, clock.now(), AbortSignal.timeout(readTimeoutMs));
      cached = { keys, at: clock.now().getTime() };
      return keys;
    } catch (err) {
      if (!known || age() > trustedMs) throw err;
      log.warn('reading the router keys failed, going on with those known', { err: messageOf(err) });
      return known.keys;
    }
  }

  /** One read for all who wait; nobody's abort takes it from the others. */
  function keys(maxAgeMs: number, signal: AbortSignal): Promise<readonly SigningKey[]> {
    if (cached && age() <= maxAgeMs) return Promise.resolve(cached.keys);
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return raceAbort(reading, signal);
  }

  return {
    async signing(signal) {
      const newest = (await keys(freshMs, signal)).at(-1);
      if (!newest) throw new Fault('internal', `secret ${keyText(keysSecret)} holds no key`);
      return newest;
    },
    async find(id, signal) {
      const among = (list: readonly SigningKey[]) => list.find((key) => key.id === id)?.secret;
      return among(await keys(freshMs, signal)) ?? among(await keys(rereadMs, signal));
    },
  };
}

async function readKeys(
  client: KeyringDeps['client'],
  now: Date,
  signal: AbortSignal,
): Promise<readonly SigningKey[]> {
  const secret = await readOrCreate(client, now, signal);
  const known = keysOf(secret);
  const planned = plannedKeys(known, now, newKey);
  if (planned === known) return known;
  try {
    const update = { ...secret, data: dataOf(planned) };
    return keysOf(await client.update<Secret>(secrets, update, { signal }));
  } catch (err) {
    if (!isFault(err, 'conflict')) throw err;
    return keysOf(await client.get<Secret>(secrets, keysSecret, { signal })); // another router did it
  }
}

async function readOrCreate(client: KeyringDeps['client'], now: Date, signal: AbortSignal): Promise<Secret> {
  const read = () => client.get<Secret>(secrets, keysSecret, { signal });
  try {
    return await read();
  } catch (err) {
    if (!isFault(err, 'not-found')) throw err;
  }
  const draft: Draft<Secret> = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...keysSecret },
    type: 'hutch.internal/router-keys',
    data: dataOf([newKey(now)]),
  };
  try {
    return await client.create<Secret>(secrets, draft, { signal });
  } catch (err) {
    if (!isFault(err, 'already-exists')) throw err;
    return await read();
  }
}

/** The keys there should be now; the same array when nothing is to be done. */
export function plannedKeys(
  known: readonly SigningKey[],
  now: Date,
  make: (now: Date) => SigningKey,
): readonly SigningKey[] {
  const ageMs = (key: SigningKey) => now.getTime() - madeAt(key);
  const newest = known.at(-1);
  const grown = newest && ageMs(newest) < rotateAfterMs ? known : [...known, make(now)];
  const kept = grown.filter((_, index) => {
    const successor = grown[index + 1];
    return !successor || ageMs(successor) < overlapMs;
  });
  return kept.length === known.length && grown === known ? known : kept;
}

/** Ids begin with the second they were made in, so that their order is their age. */
export function newKey(now: Date): SigningKey {
  const seconds = String(Math.floor(now.getTime() / 1000)).padStart(12, '0');
  return { id: `${seconds}-${randomBytes(4).toString('hex')}`, secret: randomBytes(secretBytes) };
}

const keyId = /^[0-9]{12}-[0-9a-f]{8}$/;

function madeAt(key: SigningKey): number {
  return Number(key.id.slice(0, 12)) * 1000;
}

/** Oldest first. What is not a key of ours is passed over. */
function keysOf(secret: Secret): readonly SigningKey[] {
  return Object.entries(secret.data ?? {})
    .map(([id, text]) => ({ id, secret: Buffer.from(text, 'base64') }))
    .filter((key) => keyId.test(key.id) && key.secret.length >= secretBytes)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

function dataOf(keys: readonly SigningKey[]): Record<string, string> {
  return Object.fromEntries(keys.map(({ id, secret }) => [id, Buffer.from(secret).toString('base64')]));
}
