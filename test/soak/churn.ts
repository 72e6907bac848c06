/**
 * `npm run soak -- churn [WRITES]`: a million writes to a thousand objects, over HTTP to a server on SQLite, with two
 * watchers. Its memory must stay flat and its store bounded: sizes late in the run are compared with those early in it.
 */

import { globSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFault } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { configMaps, namespaces } from '@hutch/kube-meta';
import { markdownTable } from '../../bench/stats.ts';
import { clientOf } from '../crash/rounds.ts';
import { type ServerProcess, startServer } from '../crash/server.ts';

const objects = 1_000;
const writers = 16;
const samples = 20;

interface Sample {
  readonly writes: number;
  readonly residentMb: number;
  readonly storeMb: number;
  readonly writesPerSecond: number;
}

export async function soak([wanted = '1000000']: readonly string[], signal: AbortSignal): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hutch-churn-'));
  try {
    const store = join(directory, 'store.db');
    await using server = await startServer({ store });
    await using client = clientOf(server);
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    await eachObject((name) =>
      client.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default' },
      }),
    );

    const stop = new AbortController();
    const watching = [1, 2].map(() => discardAll(client, AbortSignal.any([signal, stop.signal])));
    const taken = await churn(client, { server, store, writes: Number(wanted), signal });
    stop.abort();
    await Promise.all(watching);
    judge(taken);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function churn(
  client: KubeClient,
  {
    server,
    store,
    writes,
    signal,
  }: { server: ServerProcess; store: string; writes: number; signal: AbortSignal },
): Promise<Sample[]> {
  const taken: Sample[] = [];
  let count = 0;
  for (let round = 1; round <= samples; round++) {
    const until = Math.floor((writes * round) / samples);
    const from = count;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: writers }, async () => {
        while (count < until) {
          signal.throwIfAborted();
          const mine = count++;
          // Sizes vary, so that pages of the store are not simply written over.
          const data = { count: String(mine), body: 'x'.repeat((mine * 37) % 900) };
          await client.patch(configMaps, { namespace: 'default', name: nameOf(mine % objects) }, { data });
        }
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    const sample = {
      writes: count,
      residentMb: residentMb(server.pid),
      storeMb: storeMb(store),
      writesPerSecond: (count - from) / seconds,
    };
    taken.push(sample);
    console.log(
      `${sample.writes} writes, ${sample.residentMb.toFixed(0)} MB resident, store ${sample.storeMb.toFixed(1)} MB, ${sample.writesPerSecond.toFixed(0)}/s`,
    );
  }
  return taken;
}

/** The first fifth is warming up: the history fills, the collector finds its size. */
function judge(taken: readonly Sample[]): void {
  const settled = taken.slice(samples / 5);
  const half = settled.length / 2;
  const highest = (part: readonly Sample[], pick: (one: Sample) => number) => Math.max(...part.map(pick));
  const rows = (['residentMb', 'storeMb'] as const).map((what) => {
    const early = highest(settled.slice(0, half), (one) => one[what]);
    const late = highest(settled.slice(half), (one) => one[what]);
    if (late > early * 1.15 + 5) process.exitCode = 1;
    return [what, early.toFixed(1), late.toFixed(1)];
  });
  console.log(markdownTable(['highest', 'earlier', 'later'], rows));
  console.log(process.exitCode === 1 ? 'it grows' : 'flat');
}

/** Reads all there is and keeps nothing; comes back when it was dropped for being slow. */
async function discardAll(client: KubeClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const _ of client.watch(configMaps, { namespace: 'default', signal }));
    } catch (err) {
      if (!signal.aborted && !isFault(err, 'expired', 'unavailable')) throw err;
    }
  }
}

async function eachObject(work: (name: string) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < objects; index++) await work(nameOf(index));
}

function nameOf(index: number): string {
  return `object-${index}`;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
}

function storeMb(store: string): number {
  return globSync(`${store}*`).reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
}
