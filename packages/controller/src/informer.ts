import { Backoff, type Clock, type Log, silentLog, systemClock } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import {
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  parseKeyText,
  type Resource,
} from '@hutch/kube-meta';
import { type Followed, follow, type Scope } from './follow.ts';
import { type IndexOf, Store } from './store.ts';

export type Change<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: T; readonly previous?: undefined }
  | { readonly type: 'modified' | 'deleted'; readonly object: T; readonly previous: T };

export type ChangeListener<T extends KubeObject> = (change: Change<T>) => void;

export interface InformerOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly scope?: Scope;
  /** Drops what is not needed before an object is kept. Must leave the metadata's identity alone. */
  readonly transform?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexOf<T>>>;
  readonly clock?: Clock;
  readonly log?: Log;
}

/**
 * A local copy of one kind, kept up to date by a watch.
 *
 * Guarantees: when a listener hears of a change, the copy already shows it. A namesake with another uid is
 * always told as deleted, then added. Reads never wait; they may be a little behind the server.
 */
export interface Informer<T extends KubeObject> {
  readonly resource: Resource;
  get(key: ObjectKey): T | undefined;
  list(namespace?: string): readonly T[];
  byIndex(name: string, value: string): readonly T[];
  /** Follows until aborted. Rejects when the server refuses us, or when a listener throws. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the copy is whole for the first time; rejects when `run` ends before. */
  readonly synced: Promise<void>;
  /** Hears every change from now on; what is already here is in `list`. Returns how to stop. */
  onChange(listener: ChangeListener<T>): () => void;
  /** Resolves when the copy shows this object (or its absence) as wanted: how a writer waits for its own write. */
  waitFor(
    key: ObjectKey,
    isWanted: (object: T | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<T | undefined>;
}

export function createInformer<T extends KubeObject>({
  client,
  resource,
  scope = {},
  transform = (object) => object,
  indexes,
  clock = systemClock,
  log = silentLog,
}: InformerOptions<T>): Informer<T> {
  const store = new Store<T>(indexes);
  const listeners = new Set<ChangeListener<T>>();
  const waiters = new Map<string, Set<() => void>>();
  const synced = Promise.withResolvers<void>();
  synced.promise.catch(() => {}); // nobody has to wait for it

  function tell(change: Change<T>): void {
    for (const listener of listeners) listener(change);
    for (const wake of waiters.get(keyText(keyOf(change.object))) ?? []) wake();
  }

  function put(object: T): void {
    const previous = store.get(keyOf(object));
    if (previous && previous.metadata.uid !== object.metadata.uid) remove(previous);
    const known = store.get(keyOf(object));
    if (known?.metadata.resourceVersion === object.metadata.resourceVersion) return; // told again after a relist
    const kept = transform(object);
    store.put(kept);
    tell(known ? { type: 'modified', object: kept, previous: known } : { type: 'added', object: kept });
  }

  function remove(object: T): void {
    const previous = store.get(keyOf(object));
    if (!previous) return;
    store.remove(keyOf(object));
    tell({ type: 'deleted', object: transform(object), previous });
  }

  function replace(objects: readonly T[]): void {
    const present = new Set(objects.map((object) => keyText(keyOf(object))));
    for (const key of [...store.keys()]) {
      const gone = present.has(key) ? undefined : store.get(parseKeyText(key));
      if (gone) remove(gone);
    }
    for (const object of objects) put(object);
  }

  function take(followed: Followed<T>): void {
    if (followed.type === 'replaced') {
      replace(followed.objects);
      synced.resolve();
    } else if (followed.type === 'deleted') remove(followed.object);
    else put(followed.object);
  }

  return {
    resource,
    synced: synced.promise,
    get: (key) => store.get(key),
    list: (namespace) => store.list(namespace),
    byIndex: (name, value) => store.byIndex(name, value),

    async run(signal) {
      try {
        const options = { backoff: new Backoff(50, 30_000), clock, log, signal };
        for await (const followed of follow<T>(client, resource, scope, options)) take(followed);
        synced.reject(signal.reason);
      } catch (err) {
        synced.reject(err);
        throw err;
      }
    },

    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async waitFor(key, isWanted, signal) {
      const text = keyText(key);
      for (;;) {
        signal.throwIfAborted();
        const object = store.get(key);
        if (isWanted(object)) return object;
        await new Promise<void>((resolve) => {
          const wakers = waiters.get(text) ?? new Set();
          waiters.set(text, wakers);
          const wake = () => {
            signal.removeEventListener('abort', wake);
            wakers.delete(wake);
            if (wakers.size === 0 && waiters.get(text) === wakers) waiters.delete(text);
            resolve();
          };
          wakers.add(wake);
          signal.addEventListener('abort', wake, { once: true });
        });
      }
    },
  };
}
