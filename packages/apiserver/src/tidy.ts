/** Forgets objects whose time is over. Kinds say when that is (`expiresAt`); for most it never is. */
import { type Clock, isAbortOf, type Log } from '@hutch/base';
import type { Storage } from '@hutch/storage';
import { type ApiObject, type Kind, storagePrefix } from './kinds/kind.ts';
import { withMetadata } from './verbs/change.ts';

/** Events live an hour; a minute more does not matter. */
const intervalMs = 60_000;

export interface TidyDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly kinds: readonly Kind[];
}

export async function tidy(deps: TidyDeps, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await deps.clock.sleep(intervalMs, signal);
      await forgetExpired(deps);
    }
  } catch (err) {
    if (!isAbortOf(signal, err)) throw err;
  }
}

async function forgetExpired({ storage, clock, log, kinds }: TidyDeps): Promise<void> {
  for (const kind of kinds) {
    const { expiresAt } = kind;
    if (!expiresAt) continue;
    const now = clock.now().getTime();
    const isOver = (value: unknown) => expiresAt(value as ApiObject) <= now;
    const over = storage.list(storagePrefix(kind)).entries.filter(({ value }) => isOver(value));
    const results = await Promise.allSettled(
      over.map(({ key }) =>
        storage.write(key, (head, revision) => {
          if (!head || !isOver(head.value)) return { type: 'keep' };
          const value = withMetadata(head.value as ApiObject, { resourceVersion: String(revision) });
          return { type: 'delete', value };
        }),
      ),
    );
    // A store that cannot write now is tried again next time.
    const failed = results.find((result) => result.status === 'rejected');
    if (failed)
      log.warn('cannot forget expired objects', { kind: kind.resource.kind, err: failed.reason as unknown });
  }
}
