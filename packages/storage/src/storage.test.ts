import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { openMemoryStorage } from './drivers/memory.ts';
import { openSqliteStorage } from './drivers/sqlite.ts';
import type { Decision, Storage, StorageEvent } from './storage.ts';
import type { StoreOptions } from './store.ts';

const put = (value: unknown) => (): Decision => ({ type: 'put', value });
const remove =
  (value: unknown = null) =>
  (): Decision => ({ type: 'delete', value });

async function take(events: AsyncIterable<StorageEvent>, count: number): Promise<StorageEvent[]> {
  const taken: StorageEvent[] = [];
  if (count === 0) return taken;
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

const never = new AbortController().signal;

function describeStorageContract(name: string, open: (options?: StoreOptions) => Storage) {
  describe(`${name} keeps the storage contract`, () => {
    test('a write is read back with the revision it was told, and the store is at that revision', async () => {
      await using storage = open();
      let told = 0;
      const entry = await storage.write('/a', (head, revision) => {
        assert.equal(head, undefined);
        told = revision;
        return { type: 'put', value: { rev: revision } };
      });
      assert.deepEqual(entry, { key: '/a', value: { rev: told }, revision: told });
      assert.deepEqual(storage.get('/a'), entry);
      assert.equal(storage.revision, told);
    });

    test('an empty store is not at revision zero', async () => {
      await using storage = open();
      assert.deepEqual(storage.list('/'), { entries: [], revision: 1, remaining: 0 });
    });

    test('values are frozen to their leaves', async () => {
      await using storage = open();
      await storage.write('/a', put(Object.freeze({ list: [{ x: 1 }] })));
      const value = storage.get('/a')?.value as { list: { x: number }[] };
      assert.throws(() => value.list.push({ x: 2 }), TypeError);
      assert.throws(() => Object.assign(value.list[0] ?? {}, { x: 2 }), TypeError);
    });

    test('reads see nothing of a write before it is durable', async () => {
      await using storage = open();
      const writing = storage.write('/a', put(1));
      assert.equal(storage.get('/a'), undefined);
      assert.deepEqual(storage.list('/').entries, []);
      await writing;
      assert.equal(storage.get('/a')?.value, 1);
    });

    test('writes to one key in one batch are each decided on what the one before leaves', async () => {
      await using storage = open();
      const increments = Array.from({ length: 50 }, () =>
        storage.write('/n', (head) => ({
          type: 'put',
          value: ((head?.value as number | undefined) ?? 0) + 1,
        })),
      );
      const values = (await Promise.all(increments)).map((entry) => entry?.value);
      assert.deepEqual(
        values,
        Array.from({ length: 50 }, (_, index) => index + 1),
      );
    });

    test('a decision that throws fails its own write and nothing else', async () => {
      await using storage = open();
      const results = await Promise.allSettled([
        storage.write('/a', put(1)),
        storage.write('/a', () => {
          throw new Error('no');
        }),
        storage.write('/b', put(2)),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(
        storage.list('/').entries.map(({ value }) => value),
        [1, 2],
      );
    });

    test('a value that is not JSON fails its own write and nothing else', async () => {
      await using storage = open();
      const results = await Promise.allSettled([
        storage.write('/a', put(1n)),
        storage.write('/b', put(undefined)),
        storage.write('/c', put(3)),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'rejected', 'fulfilled'],
      );
    });

    test('a value that is too large fails its own write and nothing else', async () => {
      await using storage = open({ maxValueBytes: 100 });
      const results = await Promise.allSettled([
        storage.write('/a', put('x'.repeat(98))),
        storage.write('/b', put('x'.repeat(99))),
        storage.write('/c', put('ß'.repeat(50))),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected'],
      );
      await assert.rejects(storage.write('/b', put('x'.repeat(99))), { code: 'too-large' });
    });

    test('keeping an entry takes no revision', async () => {
      await using storage = open();
      const written = await storage.write('/a', put(1));
      assert.deepEqual(await storage.write('/a', () => ({ type: 'keep' })), written);
      assert.equal(await storage.write('/missing', () => ({ type: 'keep' })), undefined);
      assert.equal(storage.revision, written?.revision);
    });

    test('a deleted key is gone, and its last value is answered and shown to watchers', async () => {
      await using storage = open();
      await storage.write('/a', put('first'));
      const events = storage.watch('/', { signal: never });
      const last = await storage.write('/a', remove('last'));
      assert.equal(storage.get('/a'), undefined);
      assert.equal(last?.value, 'last');
      assert.deepEqual(await take(events, 1), [
        { type: 'delete', key: '/a', value: 'last', previous: 'first', revision: last?.revision },
      ]);
    });

    test('deleting what is not there changes nothing', async () => {
      await using storage = open();
      assert.equal(await storage.write('/a', remove()), undefined);
      assert.equal(storage.revision, 1);
    });

    test('a listing holds what begins with the prefix, in key order', async () => {
      await using storage = open();
      for (const key of ['/p/b/2', '/p/a/1', '/q/a', '/p/a/0', '/p/a']) await storage.write(key, put(key));
      assert.deepEqual(
        storage.list('/p/a/').entries.map(({ key }) => key),
        ['/p/a/0', '/p/a/1'],
      );
      assert.deepEqual(
        storage.list('/p/').entries.map(({ key }) => key),
        ['/p/a', '/p/a/0', '/p/a/1', '/p/b/2'],
      );
    });

    test('a listing is read page by page, each told how much is left', async () => {
      await using storage = open();
      for (const key of ['/a/3', '/a/1', '/b/1', '/a/2', '/A']) await storage.write(key, put(key));
      const first = storage.list('/a/', { limit: 2 });
      assert.deepEqual(
        first.entries.map(({ key }) => key),
        ['/a/1', '/a/2'],
      );
      assert.equal(first.remaining, 1);
      const second = storage.list('/a/', { from: '/a/2\0', limit: 2 });
      assert.deepEqual(
        second.entries.map(({ key }) => key),
        ['/a/3'],
      );
      assert.equal(second.remaining, 0);
    });

    test('a page never leaves its prefix, wherever it is told to begin', async () => {
      await using storage = open();
      for (const key of ['/a/1', '/b/1', '/c/1']) await storage.write(key, put(key));
      assert.deepEqual(
        storage.list('/b/', { from: '/a' }).entries.map(({ key }) => key),
        ['/b/1'],
      );
      assert.deepEqual(storage.list('/b/', { from: '/c' }).entries, []);
    });

    test('a state of the past is listed as it was', async () => {
      await using storage = open();
      await storage.write('/kept', put(1));
      await storage.write('/changed', put(1));
      await storage.write('/deleted', put(1));
      const { revision, entries } = storage.list('/');
      await storage.write('/changed', put(2));
      await storage.write('/changed', put(3));
      await storage.write('/deleted', remove());
      await storage.write('/new', put(1));
      const past = storage.list('/', { at: revision });
      assert.equal(past.revision, revision);
      assert.deepEqual(
        past.entries.map(({ key, value }) => [key, value]),
        entries.map(({ key, value }) => [key, value]),
      );
      assert.deepEqual(storage.list('/', { at: revision, from: '/d', limit: 1 }), {
        entries: [{ key: '/deleted', value: 1 }],
        revision,
        remaining: 1,
      });
    });

    test('a state before history is expired, one to come is not there yet', async () => {
      await using storage = open({ historyLimit: 2 });
      const { revision } = storage.list('/');
      for (let count = 0; count < 10; count++) await storage.write('/a', put(count));
      assert.throws(() => storage.list('/', { at: revision }), { code: 'expired' });
      assert.throws(() => storage.list('/', { at: storage.revision + 1 }), { code: 'timeout' });
      assert.equal(storage.list('/', { at: storage.oldestRevision }).entries.length, 1);
    });

    test('history is bounded in size as well as in number', async () => {
      await using storage = open({ historyBytes: 10_000 });
      for (let count = 0; count < 100; count++) await storage.write('/a', put('x'.repeat(1_000)));
      const kept = storage.revision - storage.oldestRevision;
      assert.ok(kept >= 5 && kept <= 13, `${kept} changes kept`);
    });

    test('pages read while writes go on are together one state', async () => {
      const step = fc.record({
        key: fc.constantFrom('/a', '/b', '/c', '/d', '/e'),
        value: fc.option(fc.integer(), { nil: undefined }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step), fc.array(step), fc.integer({ min: 1, max: 3 }), async (...given) => {
          const [before, during, limit] = given;
          await using storage = open();
          const apply = ({ key, value }: (typeof before)[number]) =>
            storage.write(key, value === undefined ? remove() : put(value));
          for (const one of before) await apply(one);
          const { entries: wanted, revision } = storage.list('/');
          const seen: unknown[] = [];
          const pending = [...during];
          for (let from: string | undefined = '/'; from !== undefined; ) {
            const page = storage.list('/', { at: revision, from, limit });
            seen.push(...page.entries.map(({ key, value }) => [key, value]));
            assert.equal(page.remaining, wanted.length - seen.length);
            from = page.remaining > 0 ? `${page.entries.at(-1)?.key}\0` : undefined;
            for (const one of pending.splice(0, 3)) await apply(one);
          }
          assert.deepEqual(
            seen,
            wanted.map(({ key, value }) => [key, value]),
          );
        }),
        { numRuns: 30 },
      );
    });

    test('a watch gives each change under its prefix once, in order, with what was before', async () => {
      await using storage = open();
      const events = storage.watch('/a', { signal: never });
      await Promise.all([
        storage.write('/a', put(1)),
        storage.write('/b', put(1)),
        storage.write('/a', put(2)),
      ]);
      const seen = await take(events, 2);
      assert.deepEqual(
        seen.map(({ value, previous }) => [previous, value]),
        [
          [undefined, 1],
          [1, 2],
        ],
      );
    });

    test('a watch from a revision first gives what happened since, then what happens', async () => {
      await using storage = open();
      const { revision } = storage.list('/');
      await storage.write('/a', put(1));
      await storage.write('/a', put(2));
      const events = storage.watch('/a', { from: revision, signal: never });
      await storage.write('/a', put(3));
      assert.deepEqual(
        (await take(events, 3)).map(({ value }) => value),
        [1, 2, 3],
      );
    });

    test('a watch ends when its signal aborts, also while it waits', async () => {
      await using storage = open();
      const stop = new AbortController();
      const reading = take(storage.watch('/', { signal: stop.signal }), 5);
      await storage.write('/a', put(1));
      stop.abort();
      assert.equal((await reading).length, 1);
    });

    test('a watch ends when the store closes', async () => {
      const storage = open();
      const reading = take(storage.watch('/', { signal: never }), 1);
      await storage[Symbol.asyncDispose]();
      assert.deepEqual(await reading, []);
      await assert.rejects(storage.write('/a', put(1)), { code: 'unavailable' });
    });

    test('a reader that falls behind is told its place is lost, after what it had', async () => {
      await using storage = open({ watchCapacity: 3 });
      const events = storage.watch('/', { signal: never });
      for (let count = 0; count < 5; count++) await storage.write('/a', put(count));
      const seen: unknown[] = [];
      await assert.rejects(
        async () => {
          for await (const { value } of events) seen.push(value);
        },
        { code: 'expired' },
      );
      assert.deepEqual(seen, [0, 1, 2]);
    });

    test('history is bounded, and a watch from before it is refused', async () => {
      await using storage = open({ historyLimit: 8 });
      const start = storage.revision;
      for (let count = 0; count < 100; count++) await storage.write('/a', put(count));
      assert.throws(
        () => storage.watch('/', { from: start, signal: never }),
        (err) => isFault(err, 'expired'),
      );
      assert.ok(storage.revision - storage.oldestRevision <= 10);
      const kept = await take(storage.watch('/', { from: storage.oldestRevision, signal: never }), 8);
      assert.equal(kept[0]?.revision, storage.oldestRevision + 1);
    });

    test('more waiting writes than allowed are refused', async () => {
      await using storage = open({ maxWaitingWrites: 2 });
      const results = await Promise.allSettled(
        [1, 2, 3].map((value) => storage.write(`/${value}`, put(value))),
      );
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected'],
      );
      await storage.write('/4', put(4));
    });

    test('any sequence of writes leaves what a plain map would hold, and watchers can rebuild it', async () => {
      const step = fc.record({
        key: fc.constantFrom('/a', '/b', '/c/d'),
        value: fc.option(fc.integer(), { nil: undefined }),
        wait: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          await using storage = open({ historyLimit: 5 });
          const model = new Map<string, number>();
          const events = storage.watch('/', { signal: never });
          const writes: Promise<unknown>[] = [];
          let changes = 0;
          for (const { key, value, wait } of steps) {
            if (value !== undefined || model.has(key)) changes++;
            writes.push(storage.write(key, value === undefined ? remove() : put(value)));
            if (value === undefined) model.delete(key);
            else model.set(key, value);
            if (wait) await writes.at(-1);
          }
          await Promise.all(writes);
          const rebuilt = new Map<string, unknown>();
          for (const { type, key, value, previous } of await take(events, changes)) {
            assert.equal(previous, rebuilt.get(key));
            if (type === 'put') rebuilt.set(key, value);
            else rebuilt.delete(key);
          }
          const want = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
          assert.deepEqual(
            storage.list('/').entries.map(({ key, value }) => [key, value]),
            want,
          );
          assert.deepEqual(
            [...rebuilt].sort(([a], [b]) => (a < b ? -1 : 1)),
            want,
          );
        }),
        { numRuns: 30 },
      );
    });
  });
}

describeStorageContract('memory', openMemoryStorage);

describeStorageContract('sqlite', (options) => {
  const directory = mkdtempSync(join(tmpdir(), 'hutch-storage-'));
  const storage = openSqliteStorage(join(directory, 'store.db'), options);
  const close = storage[Symbol.asyncDispose].bind(storage);
  storage[Symbol.asyncDispose] = async () => {
    await close();
    rmSync(directory, { recursive: true, force: true });
  };
  return storage;
});
