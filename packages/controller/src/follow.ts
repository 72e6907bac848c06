import { type Backoff, type Clock, isAbortOf, isFault, type Log, messageOf } from '@hutch/base';
import type { ClientWatchEvent, KubeClient } from '@hutch/kube-client';
import { type KubeObject, type Resource, resourceText, StatusFault } from '@hutch/kube-meta';

/** Which objects of a kind. All of them when empty. */
export interface Scope {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export type Followed<T extends KubeObject> =
  /** The whole truth at one moment: whatever is not in it does not exist. */
  | { readonly type: 'replaced'; readonly objects: readonly T[] }
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: T };

export interface FollowOptions {
  /** Belongs to this call alone. */
  readonly backoff: Backoff;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The server ends a watch after this, so that a connection that died unnoticed is not waited on for ever. */
const watchSeconds = 540;
/** A watch that lived this long was served properly, although nothing happened. */
const healthyWatchMs = 5_000;

const eventTypes = { ADDED: 'added', MODIFIED: 'modified', DELETED: 'deleted' } as const;

/**
 * Lists, then follows changes for ever. A lost place in history starts over with a list.
 *
 * Guarantees: the first change is `replaced`; changes come in the server's order. A watch that got
 * somewhere is resumed at once when it ends or breaks; one that got nowhere, with back-off.
 * Throws: when the server refuses us (no retry mends a missing permission), and on bugs.
 * On abort: simply returns.
 */
export async function* follow<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  scope: Scope,
  { backoff, clock, log, signal }: FollowOptions,
): AsyncGenerator<Followed<T>, void, void> {
  let from: string | undefined;
  while (!signal.aborted) {
    const startedMs = clock.now().getTime();
    let madeProgress = false;
    let retryAfterMs = 0;
    try {
      if (from === undefined) {
        const { items, metadata } = await client.list<T>(resource, { ...scope, signal });
        yield { type: 'replaced', objects: items };
        from = metadata.resourceVersion;
      }
      const watch = { ...scope, resourceVersion: from, timeoutSeconds: watchSeconds, signal };
      for await (const event of client.watch<T>(resource, watch)) {
        const { resourceVersion } = event.object.metadata;
        madeProgress ||= resourceVersion !== from;
        from = resourceVersion;
        if (event.type !== 'BOOKMARK') yield changeOf(event);
      }
      madeProgress ||= clock.now().getTime() - startedMs >= healthyWatchMs;
    } catch (err) {
      if (isAbortOf(signal, err)) return;
      if (!isPassing(err)) throw err;
      if (isFault(err, 'expired')) from = undefined;
      retryAfterMs = retryAfterMsOf(err);
      log.debug('watch broke off', { resource: resourceText(resource), reason: messageOf(err) });
    }
    if (madeProgress) backoff.reset();
    const waitMs = Math.max(madeProgress ? 0 : backoff.nextMs(), retryAfterMs);
    if (waitMs > 0 && !(await sleptThrough(clock, waitMs, signal))) return;
  }
}

function changeOf<T extends KubeObject>(
  event: Exclude<ClientWatchEvent<T>, { readonly type: 'BOOKMARK' }>,
): Followed<T> {
  return { type: eventTypes[event.type], object: event.object };
}

/**
 * `not-found` passes too: a kind may be served only later, and one whose definition was deleted must not
 * take down the process that followed it.
 */
function isPassing(err: unknown): boolean {
  return isFault(err) && !isFault(err, 'forbidden', 'unauthorized', 'invalid', 'unsupported');
}

function retryAfterMsOf(err: unknown): number {
  const seconds = err instanceof StatusFault ? err.status.details?.retryAfterSeconds : undefined;
  return (seconds ?? 0) * 1000;
}

/** False when the signal came first. */
async function sleptThrough(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (err) {
    if (signal.aborted) return false;
    throw err;
  }
}
