/**
 * The store: current entries and recent history in memory, a driver behind them, group commit between.
 *
 * A write decides at once, against the entry as all writes before it leave it (the *pending head*), and joins
 * the open batch. When the turn of the event loop is over the batch goes to the driver as one transaction,
 * while the next one fills. Once it is durable its changes are applied to memory in revision order, shown to
 * watchers, and its writers are answered.
 *
 * A failed commit fails the batch and the one that filled meanwhile (its writes may have been decided on heads
 * that never came to be). Their revisions are not given out again.
 */
import { Channel, Fault, isFault, messageOf } from '@hutch/base';
import type { Driver, Recorded } from './driver.ts';
import { deepFreeze } from './freeze.ts';
import { History } from './history.ts';
import { OrderedMap } from './ordered-map.ts';
import { pageOf, pastEntries } from './past.ts';
import type { Decide, Entry, Listing, ListOptions, Storage, StorageEvent, WatchOptions } from './storage.ts';

export interface StoreOptions {
  /** How many changes are kept, for watches that come back and for listings read page by page. */
  readonly historyLimit?: number;
  /** How much text these changes may come to. Parsed, in memory, it is some three times that. */
  readonly historyBytes?: number;
  /** How many changes a watcher may be behind before it is dropped. */
  readonly watchCapacity?: number;
  /** How many writes may wait for one commit. */
  readonly maxWaitingWrites?: number;
  /** The largest value as text; a larger one is a `too-large` fault. */
  readonly maxValueBytes?: number;
}

const defaults = {
  historyLimit: 10_000,
  historyBytes: 16 * 1024 * 1024,
  watchCapacity: 1_000,
  maxWaitingWrites: 10_000,
  maxValueBytes: 1_536 * 1024, // what etcd takes; clients have learned to stay below it
};

/** An empty store is at 1, so that no listing ever has revision 0, which Kubernetes gives a meaning of its own. */
const firstRevision = 1;

interface Write extends Recorded {
  readonly text: string;
}

class Batch {
  readonly writes: Write[] = [];
  /** What each written key will hold; undefined for a deleted one. */
  readonly heads = new Map<string, Entry | undefined>();
  readonly #settled = Promise.withResolvers<void>();
  readonly done = this.#settled.promise;

  constructor() {
    this.done.catch(() => {}); // a batch may have nobody waiting; its writers see the failure themselves
  }

  succeed(): void {
    this.#settled.resolve();
  }

  fail(fault: Fault): void {
    this.#settled.reject(fault);
  }
}

interface Watcher {
  readonly prefix: string;
  readonly channel: Channel<StorageEvent>;
}

export class Store implements Storage {
  readonly #driver: Driver;
  readonly #limits: Required<Pick<StoreOptions, 'watchCapacity' | 'maxWaitingWrites' | 'maxValueBytes'>>;
  readonly #current = new OrderedMap<Entry>();
  readonly #history: History;
  readonly #watchers = new Set<Watcher>();
  #revision: number;
  /** The last revision given out: ahead of the durable one while writes wait, and after a failure. */
  #lastGiven: number;
  #open = new Batch();
  #committing: Batch | undefined;
  #committer: Promise<void> | undefined;
  #failuresInARow = 0;
  #isDeciding = false;
  #isClosed = false;

  constructor(driver: Driver, options: StoreOptions = {}) {
    const { historyLimit, historyBytes, ...limits } = { ...defaults, ...options };
    const { entries, history } = driver.load();
    this.#driver = driver;
    this.#limits = limits;
    for (const entry of entries) this.#current.set(entry.key, deepFreeze(entry));
    this.#history = new History({ events: historyLimit, bytes: historyBytes }, history.map(deepFreeze));
    this.#revision = history.at(-1)?.event.revision ?? firstRevision;
    this.#lastGiven = this.#revision;
  }

  get revision(): number {
    return this.#revision;
  }

  get oldestRevision(): number {
    return this.#history.oldest(this.#revision);
  }

  get(key: string): Entry | undefined {
    return this.#current.get(key);
  }

  list(prefix: string, { at = this.#revision, from = prefix, limit }: ListOptions = {}): Listing {
    if (at > this.#revision) {
      throw new Fault('timeout', `list ${prefix} at revision ${at}: the store is at ${this.#revision}`);
    }
    if (at < this.oldestRevision) {
      throw new Fault(
        'expired',
        `list ${prefix} at revision ${at}: history begins at ${this.oldestRevision}`,
      );
    }
    const since = this.#history.since(at, prefix);
    // Mostly nothing has changed since, and a page is found in the order of keys without looking at the rest.
    if (since.length === 0) return { ...this.#current.page(prefix, from, limit), revision: at };
    const past = pastEntries(this.#current.page(prefix).entries, since);
    return { ...pageOf(past, from, limit), revision: at };
  }

  async write(key: string, decide: Decide): Promise<Entry | undefined> {
    if (this.#isClosed) throw new Fault('unavailable', `write ${key} to a closed store`);
    if (this.#isDeciding) throw new Error(`write ${key} inside the decision of another write`);
    const { maxWaitingWrites } = this.#limits;
    if (this.#open.writes.length >= maxWaitingWrites) {
      throw new Fault('queue-full', `write ${key}: ${maxWaitingWrites} writes wait for the store`);
    }

    const { head, pendingIn } = this.#headOf(key);
    const revision = this.#lastGiven + 1;
    let change: Write | undefined;
    try {
      change = this.#decided(key, { head, revision, decide });
    } catch (err) {
      // A refusal that rests on a head still pending is only true once that head is durable.
      await pendingIn?.done;
      throw err;
    }
    if (!change) {
      await pendingIn?.done;
      return head;
    }

    this.#lastGiven = revision;
    const entry: Entry = Object.freeze({ key, value: change.event.value, revision });
    const batch = this.#open;
    batch.writes.push(change);
    batch.heads.set(key, change.event.type === 'put' ? entry : undefined);
    this.#committer ??= this.#commitBatches();
    await batch.done;
    return entry;
  }

  #headOf(key: string): { head: Entry | undefined; pendingIn: Batch | undefined } {
    for (const batch of [this.#open, this.#committing]) {
      if (batch?.heads.has(key)) return { head: batch.heads.get(key), pendingIn: batch };
    }
    return { head: this.#current.get(key), pendingIn: undefined };
  }

  /** The change a write makes, ready for the driver: what cannot be stored fails here, alone, not with its batch. */
  #decided(
    key: string,
    { head, revision, decide }: { head: Entry | undefined; revision: number; decide: Decide },
  ): Write | undefined {
    this.#isDeciding = true;
    try {
      const decision = decide(head, revision);
      if (decision.type === 'keep') return undefined;
      if (decision.type === 'delete' && !head) return undefined;
      const { type, value } = decision;
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) throw new Error(`write ${key}: the value is not JSON`);
      const { maxValueBytes } = this.#limits;
      // Most texts are far below the limit, whatever their characters: only the others are measured.
      const bytes = text.length * 3 > maxValueBytes ? Buffer.byteLength(text) : text.length;
      if (type === 'put' && bytes > maxValueBytes) {
        throw new Fault('too-large', `write ${key}: ${bytes} bytes are more than ${maxValueBytes}`);
      }
      const previous = head?.value;
      const event = Object.freeze({ type, key, value: deepFreeze(value), previous, revision });
      return { event, text, bytes };
    } finally {
      this.#isDeciding = false;
    }
  }

  async #commitBatches(): Promise<void> {
    while (this.#open.writes.length > 0) {
      // Everything that this turn of the event loop still brings shares the commit.
      await new Promise(setImmediate);
      const batch = this.#open;
      this.#open = new Batch();
      this.#committing = batch;
      await this.#commit(batch);
      this.#committing = undefined;
    }
    this.#committer = undefined;
  }

  async #commit(batch: Batch): Promise<void> {
    const { writes } = batch;
    const keepHistoryFrom = this.#history.keepFrom(writes, this.#failuresInARow);
    try {
      await this.#driver.commit({ writes, keepHistoryFrom });
    } catch (cause) {
      this.#failuresInARow++;
      const fault = new Fault('unavailable', `commit ${writes.length} writes: ${messageOf(cause)}`, {
        cause,
      });
      batch.fail(fault);
      this.#open.fail(fault);
      this.#open = new Batch();
      return;
    }
    this.#failuresInARow = 0;
    this.#apply(batch, keepHistoryFrom);
    batch.succeed();
  }

  #apply(batch: Batch, keepHistoryFrom: number): void {
    // The texts have done their duty: history keeps the parsed values only.
    const recorded = batch.writes.map(({ event, bytes }) => ({ event, bytes }));
    const events = recorded.map(({ event }) => event);
    for (const { type, key, value, revision } of events) {
      if (type === 'put') this.#current.set(key, Object.freeze({ key, value, revision }));
      else this.#current.delete(key);
      this.#revision = revision;
    }
    this.#history.append(recorded, keepHistoryFrom);
    for (const watcher of this.#watchers) {
      for (const event of events) {
        if (event.key.startsWith(watcher.prefix) && !watcher.channel.push(event)) {
          this.#watchers.delete(watcher);
          break;
        }
      }
    }
  }

  watch(prefix: string, { from, signal }: WatchOptions): AsyncIterable<StorageEvent> {
    if (from !== undefined && from < this.oldestRevision) {
      throw new Fault('expired', `too old resource version: ${from} (${this.oldestRevision})`);
    }
    const start = from ?? this.#revision;
    const backlog = this.#history.since(start, prefix);

    const watcher: Watcher = { prefix, channel: new Channel(this.#limits.watchCapacity) };
    const stop = () => {
      signal.removeEventListener('abort', stop);
      this.#watchers.delete(watcher);
      watcher.channel.end();
    };
    if (signal.aborted || this.#isClosed) watcher.channel.end();
    else {
      // Registered here and not by the first read: what happens in between must not be missed.
      this.#watchers.add(watcher);
      signal.addEventListener('abort', stop, { once: true });
    }
    return follow({ backlog, channel: watcher.channel, start, stop });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#committer;
    for (const { channel } of this.#watchers) channel.end();
    this.#watchers.clear();
    this.#driver.close();
  }
}

interface Following {
  readonly backlog: readonly StorageEvent[];
  readonly channel: Channel<StorageEvent>;
  readonly start: number;
  readonly stop: () => void;
}

async function* follow({
  backlog,
  channel,
  start,
  stop,
}: Following): AsyncGenerator<StorageEvent, void, void> {
  let last = start;
  try {
    for (const event of backlog) {
      last = event.revision;
      yield event;
    }
    for await (const event of channel) {
      if (event.revision <= start) continue; // a watch may start from a revision still to come
      last = event.revision;
      yield event;
    }
  } catch (err) {
    if (!isFault(err, 'queue-full')) throw err;
    throw new Fault('expired', `watch fell behind after revision ${last}`, { cause: err });
  } finally {
    stop();
  }
}
