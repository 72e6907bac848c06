/**
 * Tells people what happened to an object, as Kubernetes Events.
 *
 * `record` only notes the event down; `run` writes it. Events are a courtesy: a write that fails is
 * logged and dropped, and nothing here ever holds up or fails the work that is being told about.
 *
 * Bounded in every direction: the same event again only raises a count, an object may tell a burst of
 * different events and then one every few minutes, and a backlog that grows too long is cut.
 */
import { type Clock, ignoring, type Log, messageOf } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { type Draft, type Event, events, type KubeObject } from '@hutch/kube-meta';
import { Budget } from './budget.ts';
import { RecentMap } from './recent-map.ts';

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** One word in upper camel case, for programs and filters. */
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorder {
  /** Never throws, never waits. */
  record(object: KubeObject, note: EventNote): void;
  /** Writes what was recorded until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly component: string;
  readonly clock: Clock;
  readonly log: Log;
}

const maxBacklog = 1_000;
const maxRemembered = 4_096;
/** An event seen again after this is told as a new one, so that its first time stays meaningful. */
const seriesMs = 10 * 60_000;
/** Different events an object may tell at once, and how fast that allowance comes back. */
const objectBudget = { burst: 25, refillMs: 5 * 60_000 };
/** The server refuses longer ones. */
const maxMessageChars = 1_024;

interface RecordedEvent extends Event {
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

/** Something that happened, possibly several times since it was last written. */
interface Pending {
  readonly object: KubeObject;
  readonly note: EventNote;
  readonly firstMs: number;
  lastMs: number;
  times: number;
}

interface Written {
  readonly namespace: string;
  readonly name: string;
  readonly firstMs: number;
  count: number;
}

export function createEventRecorder({ client, component, clock, log }: EventRecorderOptions): EventRecorder {
  const backlog = new Map<string, Pending>();
  const written = new RecentMap<Written>(maxRemembered);
  const budget = new Budget({ ...objectBudget, maxRemembered });
  let wake = () => {};
  let sequence = 0;

  function record(object: KubeObject, note: EventNote): void {
    const nowMs = clock.now().getTime();
    const series = seriesOf(object, note);
    const waiting = backlog.get(series);
    if (waiting) {
      waiting.times++;
      waiting.lastMs = nowMs;
      return;
    }
    if (backlog.size >= maxBacklog || !budget.take(object.metadata.uid, nowMs)) {
      log.debug('event dropped', { reason: note.reason, object: object.metadata.name });
      return;
    }
    backlog.set(series, { object, note, firstMs: nowMs, lastMs: nowMs, times: 1 });
    wake();
  }

  async function write(series: string, pending: Pending, signal: AbortSignal): Promise<void> {
    const known = written.get(series);
    if (known && pending.lastMs - known.firstMs < seriesMs) {
      const count = known.count + pending.times;
      const patch = { count, lastTimestamp: timeText(pending.lastMs) };
      if (await ignoring('not-found', client.patch(events, known, patch, { signal }))) {
        written.set(series, { ...known, count });
        return;
      }
    }
    // The time and a sequence number keep names apart, also from those of an earlier process.
    const suffix = `${pending.firstMs.toString(16)}${(sequence++ % 4096).toString(16).padStart(3, '0')}`;
    const draft = desiredEvent(pending, component, suffix);
    const { namespace, name } = draft.metadata;
    await client.create<RecordedEvent>(events, draft, { signal });
    written.set(series, { namespace, name, firstMs: pending.firstMs, count: pending.times });
  }

  async function tryWrite(series: string, pending: Pending, signal: AbortSignal): Promise<void> {
    try {
      await write(series, pending, signal);
    } catch (err) {
      if (signal.aborted) return;
      log.warn('event not written', { reason: pending.note.reason, err: messageOf(err) });
    }
  }

  return {
    record,
    async run(signal) {
      const onAbort = () => wake();
      signal.addEventListener('abort', onAbort, { once: true });
      while (!signal.aborted) {
        const [next] = backlog;
        if (next) {
          backlog.delete(next[0]);
          await tryWrite(...next, signal);
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}

function seriesOf({ metadata }: KubeObject, { type, reason, message }: EventNote): string {
  return [metadata.uid, type, reason, message].join('\n');
}

function desiredEvent(pending: Pending, component: string, suffix: string) {
  const { object, note, firstMs, lastMs, times } = pending;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const eventMeta = {
    namespace: namespace ?? 'default', // where Kubernetes keeps events of cluster-scoped objects
    name: `${name.slice(0, 252 - suffix.length)}.${suffix}`,
  };
  const involved = { apiVersion: object.apiVersion, kind: object.kind, name, uid, resourceVersion };
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: eventMeta,
    involvedObject: { ...involved, ...(namespace === undefined ? {} : { namespace }) },
    type: note.type,
    reason: note.reason,
    message: note.message.slice(0, maxMessageChars),
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: timeText(firstMs),
    lastTimestamp: timeText(lastMs),
    count: times,
  } satisfies Draft<RecordedEvent>;
}

/** Kubernetes writes these times in whole seconds. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
