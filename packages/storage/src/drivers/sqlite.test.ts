import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Decision, StorageEvent } from '../storage.ts';
import { openSqliteStorage } from './sqlite.ts';

const put = (value: unknown) => (): Decision => ({ type: 'put', value });
const never = new AbortController().signal;

function scratch(): Disposable & { path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'hutch-sqlite-'));
  return {
    path: join(directory, 'store.db'),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function eventsUpTo(events: AsyncIterable<StorageEvent>, revision: number): Promise<StorageEvent[]> {
  const seen: StorageEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.revision >= revision) break;
  }
  return seen;
}

test('after a restart entries, revision and history are as they were', async () => {
  using file = scratch();
  const before = openSqliteStorage(file.path, { historyLimit: 20 });
  for (let count = 0; count < 30; count++) {
    await before.write(`/${count % 3}`, (head, revision) =>
      count % 4 === 3 && head
        ? { type: 'delete', value: { gone: revision } }
        : { type: 'put', value: { revision } },
    );
  }
  const from = before.oldestRevision;
  const listing = before.list('/');
  const history = await eventsUpTo(before.watch('/', { from, signal: never }), before.revision);
  await before[Symbol.asyncDispose]();

  await using after = openSqliteStorage(file.path, { historyLimit: 20 });
  assert.deepEqual(after.list('/'), listing);
  assert.equal(after.oldestRevision, from);
  assert.deepEqual(await eventsUpTo(after.watch('/', { from, signal: never }), after.revision), history);
  const next = await after.write('/new', put(1));
  assert.equal(next?.revision, listing.revision + 1);
});

test('the revision does not go back when the last change was a deletion and all else is compacted', async () => {
  using file = scratch();
  const before = openSqliteStorage(file.path, { historyLimit: 1 });
  for (let count = 0; count < 10; count++) await before.write('/a', put(count));
  await before.write('/a', () => ({ type: 'delete', value: null }));
  const { revision } = before;
  await before[Symbol.asyncDispose]();
  await using after = openSqliteStorage(file.path);
  assert.equal(after.revision, revision);
});

test('a full store refuses writes, loses nothing it acknowledged, and goes on when there is room', async () => {
  using file = scratch();
  const storage = openSqliteStorage(file.path, { maxBytes: 200_000, historyLimit: 10 });
  const blob = 'x'.repeat(10_000);
  const acknowledged: string[] = [];
  const failure = await (async () => {
    for (let count = 0; ; count++) {
      try {
        await storage.write(`/${count}`, put(blob));
        acknowledged.push(`/${count}`);
      } catch (err) {
        return err as Error;
      }
    }
  })();
  assert.match(failure.message, /full/);
  assert.deepEqual(
    storage
      .list('/')
      .entries.map(({ key }) => key)
      .sort(),
    acknowledged.toSorted(),
  );

  // Deleting must work on a full store, or it could never be mended: history makes room for it.
  const victims = acknowledged.splice(0, 3);
  for (const key of victims) await removeEventually(storage, key);
  await storage.write('/after', put('fits'));
  await storage[Symbol.asyncDispose]();

  await using again = openSqliteStorage(file.path);
  assert.deepEqual(
    again.list('/').entries.map(({ key }) => key),
    [...acknowledged, '/after'].sort(),
  );
});

/** Each refusal makes the store give up more of its history, so a few attempts are enough. */
async function removeEventually(storage: ReturnType<typeof openSqliteStorage>, key: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await storage.write(key, () => ({ type: 'delete', value: null }));
      return;
    } catch (err) {
      if (attempt === 8) throw err;
    }
  }
}

test('the file does not grow with the number of writes', async () => {
  using file = scratch();
  await using storage = openSqliteStorage(file.path, { historyLimit: 50 });
  const value = 'x'.repeat(1_000);
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, key) => storage.write(`/${key}`, put(value + round))));
    }
    return statSync(file.path).size + statSync(`${file.path}-wal`).size;
  };
  const early = await rounds(100);
  const late = await rounds(300);
  assert.ok(late <= early + 1_000_000, `${early} bytes, later ${late}`);
});

test('a second opener is refused', async () => {
  using file = scratch();
  await using storage = openSqliteStorage(file.path);
  await storage.write('/a', put(1));
  assert.throws(() => openSqliteStorage(file.path), { code: 'unavailable', message: /open store .*locked/ });
});

test('a file of another format, or no database at all, is refused with its name', () => {
  using file = scratch();
  const db = new DatabaseSync(file.path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  assert.throws(() => openSqliteStorage(file.path), { message: /store\.db: the file has format 99/ });
});

test('after SIGKILL at any moment every acknowledged write is there, and none is half there', async () => {
  using file = scratch();
  let lastRevision = 0;
  for (let round = 0; round < 5; round++) {
    const acks = await killWhileWriting(file.path, 50 + Math.floor(Math.random() * 400));
    assert.ok(acks.length > 0);

    await using storage = openSqliteStorage(file.path, { historyLimit: 50 });
    const newest = new Map<string, Ack>();
    for (const ack of acks) {
      assert.ok(ack.revision > lastRevision, 'revisions never go back');
      if ((newest.get(ack.key)?.revision ?? 0) < ack.revision) newest.set(ack.key, ack);
    }
    // What came after the last acknowledgement may or may not be there; what came before must be.
    const history = await eventsUpTo(
      storage.watch('/', { from: storage.oldestRevision, signal: never }),
      storage.revision,
    );
    for (const ack of newest.values()) {
      const revision = storage.get(ack.key)?.revision;
      const gone = history.findLast(({ key, type }) => key === ack.key && type === 'delete')?.revision;
      const reached = revision ?? gone ?? (ack.deleted ? ack.revision : 0);
      assert.ok(reached >= ack.revision, JSON.stringify({ ack, revision, gone }));
    }
    for (const entry of storage.list('/').entries) {
      assert.equal(
        (entry.value as { revision: number }).revision,
        storage.get(entry.key)?.revision,
        'value and revision belong together',
      );
    }
    lastRevision = storage.revision;
  }
});

interface Ack {
  readonly key: string;
  readonly revision: number;
  readonly deleted: boolean;
}

async function killWhileWriting(path: string, acksBeforeKill: number): Promise<Ack[]> {
  const writer = fileURLToPath(new URL('./crash-writer.ts', import.meta.url));
  const child = spawn(process.execPath, [writer, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let output = '';
  let isKilled = false;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    output += chunk;
    if (!isKilled && output.split('\n').length > acksBeforeKill) {
      isKilled = true;
      child.kill('SIGKILL');
    }
  });
  await Promise.all([ended, once(child.stdout, 'close')]);
  return output
    .split('\n')
    .slice(0, -1) // the last line may be cut
    .map((line) => JSON.parse(line) as Ack);
}
