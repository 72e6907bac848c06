/** What the store asks of a place that outlives it. All semantics are in `store.ts`; a driver only remembers. */
import type { Entry, StorageEvent } from './storage.ts';

/** A change and the size of its value as text. */
export interface Recorded {
  readonly event: StorageEvent;
  readonly bytes: number;
}

export interface Loaded {
  /** In the order of their keys. */
  readonly entries: Iterable<Entry>;
  /** In the order of their revisions. The last one is never compacted: it carries the store's revision. */
  readonly history: readonly Recorded[];
}

export interface Commit {
  readonly writes: readonly { readonly event: StorageEvent; readonly text: string }[];
  /** Events before this revision may be forgotten, and should be first: that can make the room the writes need. */
  readonly keepHistoryFrom: number;
}

export interface Driver {
  load(): Loaded;
  /** All or nothing. Resolves when the writes survive a crash; what it throws is shown as the cause of the failure. */
  commit(commit: Commit): Promise<void>;
  close(): void;
}
