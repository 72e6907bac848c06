/**
 * Watches: changes of the store as events of a selection.
 *
 * An object that comes into the selection is ADDED and one that leaves it is DELETED, whatever happened to the
 * object itself. A lost place in history is told inside the stream, as Kubernetes does, so that every client
 * handles it in one way.
 */
import { type Clock, isAbortOf, isFault } from '@hutch/base';
import { type Status, StatusFault, statusFault, type WatchEvent } from '@hutch/kube-meta';
import type { Storage, StorageEvent } from '@hutch/storage';
import type { ApiObject } from '../kinds/kind.ts';
import type { Matcher } from '../query.ts';
import { tooLargeVersion } from './list.ts';

/** How often a quiet watch tells how far it has come. */
const bookmarkIntervalMs = 60_000;

export interface WatchRequest {
  readonly prefix: string;
  /** Changes after this revision; from now on when undefined. With initial events, the least they may be of. */
  readonly from: number | undefined;
  /** Begin with everything there is, as ADDED. */
  readonly sendsInitial: boolean;
  /** Undefined: everything. */
  readonly matches: Matcher | undefined;
  /** Objects as the caller's version of the API shows them. */
  readonly shown: (object: ApiObject) => ApiObject | Promise<ApiObject>;
  readonly timeoutMs: number;
  /** The type of the bookmarks, if any are wanted. One marks the end of the initial events. */
  readonly bookmarks: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly signal: AbortSignal;
}

export function watchObjects(
  storage: Storage,
  clock: Clock,
  request: WatchRequest,
): AsyncIterable<WatchEvent> {
  const { prefix, from, sendsInitial, signal } = request;
  const ended = new AbortController();
  const whenEnded = AbortSignal.any([signal, ended.signal]);
  try {
    if (sendsInitial && from !== undefined && from > storage.revision) {
      throw tooLargeVersion(from, storage.revision);
    }
    const initial = sendsInitial ? storage.list(prefix) : { entries: [], revision: from ?? storage.revision };
    // Begun here and not by the first read, so that nothing is missed in between.
    const changes = storage.watch(prefix, { from: initial.revision, signal: whenEnded });
    const objects = initial.entries.map(({ value }) => value as ApiObject);
    return watchEvents({
      storage,
      clock,
      request,
      changes,
      objects,
      initialRevision: initial.revision,
      ended,
      whenEnded,
    });
  } catch (err) {
    return once({ type: 'ERROR', object: lostPlace(err) });
  }
}

/** What a watch that has begun can say of a failure; anything unexpected is thrown on. */
function lostPlace(err: unknown): Status {
  if (err instanceof StatusFault && err.code === 'timeout') return err.status;
  if (isFault(err, 'expired')) return statusFault('expired', err.message).status;
  throw err;
}

interface Running {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly request: WatchRequest;
  readonly changes: AsyncIterable<StorageEvent>;
  readonly objects: readonly ApiObject[];
  readonly initialRevision: number;
  readonly ended: AbortController;
  readonly whenEnded: AbortSignal;
}

async function* watchEvents(running: Running): AsyncGenerator<WatchEvent, void, void> {
  const { storage, clock, request, objects, ended, whenEnded } = running;
  const { matches = everything, shown, bookmarks } = request;
  const bookmark = (revision: number, annotations?: Readonly<Record<string, string>>): WatchEvent[] => {
    if (!bookmarks) return [];
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) };
    return [{ type: 'BOOKMARK', object: { ...bookmarks, metadata } }];
  };

  const alarms = new Alarms(clock, whenEnded);
  alarms.after(request.timeoutMs, 'timeout');
  if (bookmarks) alarms.every(bookmarkIntervalMs, 'bookmark');
  try {
    for (const object of objects) {
      if (matches(object)) yield { type: 'ADDED', object: await shown(object) };
    }
    if (request.sendsInitial) {
      yield* bookmark(running.initialRevision, { 'k8s.io/initial-events-end': 'true' });
    }

    for await (const next of alarms.between(running.changes, () => ended.abort())) {
      if (next === 'timeout' || next === 'bookmark') {
        const reached = await alarms.progress(() => storage.revision);
        if (reached !== undefined) yield* bookmark(reached);
        if (next === 'timeout') return;
      } else {
        const event = selected(next, matches);
        if (event) yield { type: event.type, object: await shown(event.object) };
      }
    }
  } catch (err) {
    if (isAbortOf(whenEnded, err)) return;
    yield { type: 'ERROR', object: lostPlace(err) };
  } finally {
    ended.abort();
  }
}

const everything: Matcher = () => true;

interface Selected {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
}

function selected(change: StorageEvent, matches: Matcher): Selected | undefined {
  const before = change.previous as ApiObject | undefined;
  const after = change.value as ApiObject;
  const was = before !== undefined && matches(before);
  if (change.type === 'delete') return was ? { type: 'DELETED', object: after } : undefined;
  const is = matches(after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: after };
  if (!was) return undefined;
  // The watcher never saw the new state select itself out: it is shown the last one it knew, at this revision.
  const metadata = { ...before.metadata, resourceVersion: after.metadata.resourceVersion };
  return { type: 'DELETED', object: Object.freeze({ ...before, metadata: Object.freeze(metadata) }) };
}

async function* once<T>(value: T): AsyncGenerator<T, void, void> {
  yield value;
}

type Alarm = 'timeout' | 'bookmark';

/**
 * Reads an iterator and hears alarms at the same time. One waiting promise at a time, so that a busy watch does
 * not pile up reactions on a slow timer, as a race of promises would.
 */
class Alarms {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #rung: Alarm[] = [];
  #wake: () => void = () => {};
  #hasArrived = false;

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  after(ms: number, alarm: Alarm): void {
    this.#clock.sleep(ms, this.#signal).then(
      () => this.#ring(alarm),
      () => {}, // the watch ended first
    );
  }

  every(ms: number, alarm: Alarm): void {
    this.#clock.sleep(ms, this.#signal).then(
      () => {
        this.#ring(alarm);
        this.every(ms, alarm);
      },
      () => {},
    );
  }

  #ring(alarm: Alarm): void {
    if (!this.#rung.includes(alarm)) this.#rung.push(alarm);
    this.#wake();
  }

  /** `stop` ends the source: one that still waits for a change would otherwise keep its reader waiting too. */
  async *between<T>(source: AsyncIterable<T>, stop: () => void): AsyncGenerator<T | Alarm, void, void> {
    const iterator = source[Symbol.asyncIterator]();
    const arrived = () => {
      this.#hasArrived = true;
      this.#wake();
    };
    try {
      for (;;) {
        this.#hasArrived = false;
        const next = iterator.next();
        next.then(arrived, arrived);
        // Changes go first, so that a bookmark never overtakes one; but the end of the time is the end.
        await this.#heard();
        while (!this.#hasArrived || this.#rung.includes('timeout')) {
          const alarm = this.#rung.includes('timeout') ? 'timeout' : this.#rung.shift();
          if (alarm) yield alarm;
          await this.#heard();
        }
        const { done, value } = await next;
        if (done) return;
        yield value;
      }
    } finally {
      stop();
      await iterator.return?.();
    }
  }

  #heard(): Promise<void> {
    if (this.#hasArrived || this.#rung.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * The revision up to which everything has been passed on, if nothing is waiting to be. Changes up to the
   * revision read here are already with the iterator; one turn of the event loop later they would have arrived.
   */
  async progress(revision: () => number): Promise<number | undefined> {
    const reached = revision();
    await new Promise(setImmediate);
    return this.#hasArrived ? undefined : reached;
  }
}
