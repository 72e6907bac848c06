/**
 * The contract of a revisioned key-value store.
 *
 * Every change of a key has a revision of its own: one counter for the whole store, growing, never repeated,
 * also not after a failed write or a restart. Values are JSON values and belong to the store once written:
 * they are frozen deeply and shared with every reader and watcher.
 */
export interface KeyValue {
  readonly key: string;
  readonly value: unknown;
}

export interface Entry extends KeyValue {
  /** Of the change that made this value. */
  readonly revision: number;
}

/** What one write does to its key. */
export type Decision =
  | { readonly type: 'put'; readonly value: unknown }
  /** `value` is what watchers are shown of the key for the last time. */
  | { readonly type: 'delete'; readonly value: unknown }
  | { readonly type: 'keep' };

/**
 * Called synchronously, once, when the write joins its batch, with the entry as it will be when all writes
 * before this one have happened, and with the revision this write will have. What it throws, `write` rejects with.
 */
export type Decide = (head: Entry | undefined, revision: number) => Decision;

export interface StorageEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** The new value, or the last one of a deleted key. */
  readonly value: unknown;
  /** What the key held before; undefined when the key is new. */
  readonly previous: unknown;
  readonly revision: number;
}

export interface Listing {
  /** In the order of their keys. */
  readonly entries: readonly KeyValue[];
  /** Of the whole store at that moment: where a watch goes on without a gap. */
  readonly revision: number;
  /** How many more keys there are after the last one listed. */
  readonly remaining: number;
}

export interface ListOptions {
  /** The state after this revision, however many changes ago; the present one when absent. */
  readonly at?: number | undefined;
  /** Only keys from this one on. */
  readonly from?: string | undefined;
  /** No more entries than this; all when absent. */
  readonly limit?: number | undefined;
}

export interface WatchOptions {
  /** Events after this revision are given, however long ago; from now on when absent. */
  readonly from?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Guarantees: reads are synchronous, from memory, and see only what is durable. A write resolves when it is
 * durable and visible to reads and watches. A failed commit fails every write that was in it or built on it
 * with an `unavailable` fault, changes nothing, and does not stop the store.
 */
export interface Storage extends AsyncDisposable {
  /** Of the last durable change. */
  readonly revision: number;
  /** The oldest revision a watch can start from, and the oldest state that can be listed. */
  readonly oldestRevision: number;

  get(key: string): Entry | undefined;

  /**
   * What begins with a prefix. Pages of one listing all name the revision of the first (`at`), so that together
   * they are one state although writes go on. Throws an `expired` fault when history does not reach back to it,
   * and a `timeout` fault for one that is still to come.
   */
  list(prefix: string, options?: ListOptions): Listing;

  /** Resolves with the entry written, the last one of a deleted key, or the one that was kept. */
  write(key: string, decide: Decide): Promise<Entry | undefined>;

  /**
   * Changes under a prefix in the order of their revisions, each exactly once. Ends when the signal aborts or
   * the store closes. Throws an `expired` fault when `from` is older than the history, and the iterator does
   * when its reader falls too far behind.
   */
  watch(prefix: string, options: WatchOptions): AsyncIterable<StorageEvent>;
}
