/** Clients under a server that is being killed: writers with a ledger, and watchers that come back. */
import { createHash } from 'node:crypto';
import { isFault } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { configMaps, type KubeObject, StatusFault } from '@hutch/kube-meta';
import type { Found, Ledger } from './ledger.ts';

const namespace = 'default';
const objectsPerWriter = 4;

interface Item extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** A value with a proof that it is whole, of varied size. */
function dataOf(value: number): Record<string, string> {
  const body = String(value).repeat(1 + (value % 60));
  return { value: String(value), body, proof: proofOf(`${value} ${body}`) };
}

function proofOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function foundOf({ metadata, data = {} }: Item): Found {
  const { value = '', body, proof } = data;
  const isWhole = proof === proofOf(`${value} ${body}`);
  return { revision: Number(metadata.resourceVersion), value: Number(value), isWhole };
}

export interface WriterOptions {
  readonly writer: number;
  readonly ledger: Ledger;
  /** A value that no write had before. */
  readonly next: () => number;
  /** Asked before each write. */
  readonly isOver?: () => boolean;
}

/** Creates, replaces and deletes its own objects, one request after the other, until the server is gone. */
export async function write(
  client: KubeClient,
  { writer, ledger, next, isOver = () => false }: WriterOptions,
): Promise<void> {
  while (!isOver()) {
    const value = next();
    const name = `w${writer}-${value % objectsPerWriter}`;
    try {
      await writeOnce(client, ledger, { name, value });
    } catch (err) {
      if (!isFault(err, 'unavailable', 'too-many-requests')) throw err;
      if (!(err instanceof StatusFault)) return; // no answer at all: the kill
      ledger.refuse(name); // answered, and with no: a full disk
    }
  }
}

async function writeOnce(
  client: KubeClient,
  ledger: Ledger,
  { name, value }: { name: string; value: number },
): Promise<void> {
  const known = ledger.known(name);
  const draft = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: dataOf(value) };
  if (!known) {
    ledger.ask(name, { value });
    const made = await client.create<Item>(configMaps, draft);
    return ledger.acknowledge(name, Number(made.metadata.resourceVersion));
  }
  if (value % 5 === 0) {
    ledger.ask(name, undefined);
    await client.delete(configMaps, { name, namespace });
    return ledger.acknowledgeDeletion(name);
  }
  ledger.ask(name, { value });
  const resourceVersion = String(known.revision);
  const changed = await client.update<Item>(configMaps, {
    ...draft,
    metadata: { ...draft.metadata, resourceVersion },
  } as never);
  ledger.acknowledge(name, Number(changed.metadata.resourceVersion));
}

/** All that is there. */
export async function readAll(client: KubeClient): Promise<{ found: Map<string, Found>; revision: number }> {
  const list = await client.list<Item>(configMaps, { namespace });
  const found = new Map(list.items.map((item) => [item.metadata.name, foundOf(item)]));
  return { found, revision: Number(list.metadata.resourceVersion) };
}

export interface Seen {
  readonly type: string;
  readonly name: string;
  readonly revision: number;
  readonly value: number;
}

/** Follows all changes through every restart, from the revision of its last event on. */
export class Watcher {
  readonly seen: Seen[] = [];
  #from: string;

  constructor(from: string) {
    this.#from = from;
  }

  /** Until the server is gone, the signal aborts, or an object of this name has come. */
  async follow(client: KubeClient, signal: AbortSignal, last?: string): Promise<void> {
    try {
      for await (const event of client.watch<Item>(configMaps, {
        namespace,
        resourceVersion: this.#from,
        signal,
      })) {
        this.#from = event.object.metadata.resourceVersion;
        if (event.type === 'BOOKMARK') continue;
        const { revision, value } = foundOf(event.object);
        const { name } = event.object.metadata;
        this.seen.push({ type: event.type, name, revision, value });
        if (name === last) return;
      }
    } catch (err) {
      if (!signal.aborted && !isFault(err, 'unavailable')) throw err;
    }
  }

  /** What is wrong with the story it was told: order, repetition, or a change that does not follow from the last. */
  contradictions(): string[] {
    const wrong: string[] = [];
    let last = 0;
    const there = new Set<string>();
    for (const { type, name, revision } of this.seen) {
      if (revision <= last) wrong.push(`event ${type} ${name} of revision ${revision} came after ${last}`);
      last = revision;
      if ((type === 'ADDED') === there.has(name))
        wrong.push(`event ${type} ${name} of revision ${revision} does not follow`);
      if (type === 'DELETED') there.delete(name);
      else there.add(name);
    }
    return wrong;
  }

  /** The objects as its events leave them. */
  get state(): ReadonlyMap<string, number> {
    const state = new Map<string, number>();
    for (const { type, name, revision } of this.seen) {
      if (type === 'DELETED') state.delete(name);
      else state.set(name, revision);
    }
    return state;
  }
}
