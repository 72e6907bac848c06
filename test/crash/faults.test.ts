/** The disk and the clock misbehave: what was acknowledged is still true. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pause } from '@hutch/base';
import { configMaps, namespaces } from '@hutch/kube-meta';
import { cutLog, garbleLog, tearTail } from './damage.ts';
import { Ledger } from './ledger.ts';
import { readAll, Watcher, write } from './load.ts';
import { clientOf, killRounds, randomFrom } from './rounds.ts';
import { startServer } from './server.ts';

const seed = Math.floor(Math.random() * 2 ** 31);

function scratch(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'hutch-fault-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

test('a torn write at the end of the log costs nothing that was acknowledged', async (t) => {
  const report = await killRounds({ rounds: 6, seed, damage: tearTail, signal: t.signal });
  assert.deepEqual(report.contradictions, [], `seed ${seed}`);
  assert.ok(report.acknowledged > 50);
});

test('the checker notices a store that lost what it had acknowledged', async (t) => {
  const damage = (store: string) => cutLog(store, () => 0.5);
  const report = await killRounds({ rounds: 1, seed, watchers: 0, damage, signal: t.signal });
  assert.ok(report.contradictions.length > 0);
});

for (const { name, damage } of [
  { name: 'that ends early', damage: cutLog },
  { name: 'with wrong bytes in it', damage: garbleLog },
]) {
  test(`a log ${name} gives the store as it was at an earlier revision, never a mixture`, async (t) => {
    using directory = scratch();
    const store = join(directory.path, 'store.db');
    const watcher = new Watcher('');
    await loadAndKill(store, watcher, t.signal);
    await damage(store, randomFrom(seed));

    await using server = await startServer({ store });
    await using client = clientOf(server);
    const { found, revision } = await readAll(client);
    const then = new Watcher('');
    then.seen.push(...watcher.seen.filter((event) => event.revision <= revision));
    const state = new Map([...found].map(([key, { revision: at }]) => [key, at]));
    assert.deepEqual(
      new Map([...state].sort()),
      new Map([...then.state].sort()),
      `seed ${seed}, revision ${revision}`,
    );
    assert.ok([...found.values()].every(({ isWhole }) => isWhole));
  });
}

/** Writes for a moment, lets the watcher hear all of it, and kills the server. */
async function loadAndKill(store: string, watcher: Watcher, signal: AbortSignal): Promise<void> {
  await using server = await startServer({ store });
  await using client = clientOf(server);
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  const watching = watcher.follow(client, signal, 'end');
  const enough = performance.now() + 400;
  const ledger = new Ledger();
  let count = 0;
  const isOver = () => performance.now() > enough;
  await Promise.all(
    Array.from({ length: 6 }, (_, writer) => write(client, { writer, ledger, next: () => count++, isOver })),
  );
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'end', namespace: 'default' },
  });
  await watching;
  await server.kill();
}

const isRoot = process.getuid?.() === 0;

test('a full disk refuses writes, loses none that it took, and half-takes none', async (t) => {
  using directory = scratch();
  using disk = isRoot ? mountSmallDisk(directory.path) : undefined;
  t.diagnostic(disk ? 'on a file system of 3 MB' : 'with a limit on the size of the file: not root');
  const report = await killRounds({
    rounds: 5,
    seed,
    watchers: 0, // a store without room forgets its history early, and says so to those who come back
    directory: directory.path,
    loadMs: 700,
    ...(disk ? {} : { maxBytes: 1_000_000 }),
    signal: t.signal,
  });
  t.diagnostic(`${report.acknowledged} acknowledged, ${report.refused} refused`);
  assert.deepEqual(report.contradictions, [], `seed ${seed}`);
  assert.ok(report.acknowledged > 50);
  assert.ok(report.refused > 0, 'the disk never was full');
});

function mountSmallDisk(path: string): Disposable {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'hutch-fault', path]);
  return { [Symbol.dispose]: () => void execFileSync('umount', [path]) };
}

const whyNoTracer =
  spawnSync('strace', ['-c', '-o', '/dev/null', 'true']).status === 0 ? false : 'needs strace';

test('on a slow disk writes wait for it, and none is acknowledged before it is there', {
  skip: whyNoTracer,
}, async (t) => {
  const syncs = 'fdatasync,fsync';
  const under = [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    `trace=${syncs}`,
    '-e',
    `inject=${syncs}:delay_enter=40000`,
  ];
  const report = await killRounds({ rounds: 4, seed, under, loadMs: 800, signal: t.signal });
  assert.deepEqual(report.contradictions, [], `seed ${seed}`);
  assert.ok(report.acknowledged > 10, `${report.acknowledged} writes`);
});

test('a clock that jumps back changes neither the order of revisions nor what is kept', async (t) => {
  const jump = async (pid: number, signal: AbortSignal) => {
    while (!signal.aborted) {
      process.kill(pid, 'SIGUSR2');
      await pause(20, signal).catch(() => {});
    }
  };
  const report = await killRounds({
    rounds: 4,
    seed,
    meanwhile: ({ pid }, signal) => jump(pid, signal),
    signal: t.signal,
  });
  assert.deepEqual(report.contradictions, [], `seed ${seed}`);
  assert.ok(report.acknowledged > 50);
});
