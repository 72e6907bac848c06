/**
 * Rounds of: start, check that all is as it was left, write and watch, kill. The checker is the ledger for what was
 * acknowledged, and for each watcher that its events, through all restarts, are one story that ends where the store is.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '@hutch/base';
import { createKubeClient, type KubeClient, overHttp } from '@hutch/kube-client';
import { configMaps, namespaces } from '@hutch/kube-meta';
import { Ledger } from './ledger.ts';
import { readAll, Watcher, write } from './load.ts';
import { type ServerOptions, type ServerProcess, startServer } from './server.ts';

export interface RoundOptions extends Omit<ServerOptions, 'store'> {
  readonly rounds: number;
  readonly seed: number;
  /** Where the store is made; a temporary directory when absent. */
  readonly directory?: string;
  readonly writers?: number;
  readonly watchers?: number;
  /** Between a death and the next start. */
  readonly damage?: (store: string, random: () => number) => Promise<void>;
  /** While a round's load goes on; the signal is its end. */
  readonly meanwhile?: (server: ServerProcess, signal: AbortSignal) => Promise<void>;
  /** The kill comes at a random moment within this time. */
  readonly loadMs?: number;
  readonly signal: AbortSignal;
  readonly say?: (line: string) => void;
}

export interface RoundReport {
  readonly acknowledged: number;
  readonly refused: number;
  readonly events: number;
  readonly contradictions: readonly string[];
}

export async function killRounds(options: RoundOptions): Promise<RoundReport> {
  const { rounds, seed, writers = 6, watchers = 2, loadMs = 300, signal, say = () => {} } = options;
  const directory = await mkdtemp(join(options.directory ?? tmpdir(), 'hutch-crash-'));
  const store = join(directory, 'store.db');
  const random = randomFrom(seed);
  const ledger = new Ledger();
  let count = 0;
  let following: Watcher[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      await using server = await startServer({ ...options, store });
      await using client = clientOf(server);
      if (round === 0)
        await client.create(namespaces, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'default' },
        });
      const { found, revision } = await readAll(client);
      ledger.settle(found, revision);
      if (round === 0) following = Array.from({ length: watchers }, () => new Watcher(String(revision)));

      const stop = new AbortController();
      const load = Array.from({ length: writers }, (_, writer) =>
        write(client, { writer, ledger, next: () => count++ }),
      );
      const watching = following.map((watcher) => watcher.follow(client, signal));
      const side = options.meanwhile?.(server, stop.signal);
      await pause(loadMs * (0.1 + 0.9 * random()), signal); // the random moment of the kill
      stop.abort();
      await side;
      await server.kill();
      await Promise.all([...load, ...watching]);
      ledger.crash();
      for (const { seen } of following) ledger.noteRevision(seen.at(-1)?.revision ?? 0);
      await options.damage?.(store, random);
      if ((round + 1) % 20 === 0) say(`${round + 1} rounds, ${ledger.acknowledged} writes acknowledged`);
    }
    const contradictions = [
      ...(await finalContradictions({ ...options, store }, ledger, following)),
      ...ledger.contradictions(),
    ];
    const events = following.reduce((sum, { seen }) => sum + seen.length, 0);
    const { acknowledged, refused } = ledger;
    return { acknowledged, refused, events, contradictions };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The server once more, unharmed: the last settlement, and the watchers are told what they have not seen yet. */
async function finalContradictions(
  options: RoundOptions & { store: string },
  ledger: Ledger,
  following: readonly Watcher[],
): Promise<string[]> {
  await using server = await startServer(options);
  await using client = clientOf(server);
  const { found, revision } = await readAll(client);
  ledger.settle(found, revision);
  if (following.length === 0) return [];
  // A last write is the sign that all before it has been told.
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'end', namespace: 'default' },
  });
  const contradictions: string[] = [];
  for (const watcher of following) {
    await watcher.follow(client, options.signal, 'end');
    contradictions.push(...watcher.contradictions(), ...missedBy(watcher, found));
  }
  return contradictions;
}

function missedBy({ state }: Watcher, found: ReadonlyMap<string, { readonly revision: number }>): string[] {
  const changes = [...found].filter(([name, { revision }]) => state.get(name) !== revision);
  const ends = [...state.keys()].filter((name) => name !== 'end' && !found.has(name));
  return [
    ...changes.map(([name, { revision }]) => `a watcher missed ${name} at revision ${revision}`),
    ...ends.map((name) => `a watcher missed the end of ${name}`),
  ];
}

export function clientOf({ url, ca, token }: ServerProcess): KubeClient & AsyncDisposable {
  const transport = overHttp({ url, ca, token });
  return Object.assign(createKubeClient(transport), {
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  });
}

/** Numbers between 0 and 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
