import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeClock } from '@hutch/testing';
import fc from 'fast-check';
import { type Lease, WorkQueue } from './work-queue.ts';

const a = { namespace: 'ns', name: 'a' };
const b = { name: 'b' };

function setUp() {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, maxBackoffMs: 40 });
  const stop = new AbortController();
  const leases = queue.leases(stop.signal);
  const next = async (): Promise<Lease> => {
    const { value, done } = await leases.next();
    assert.ok(!done);
    return value;
  };
  return { clock, queue, stop, leases, next };
}

test('keys come out in the order they were added, each once', async () => {
  const { queue, next } = setUp();
  queue.add(b);
  queue.add(a);
  queue.add(b);
  assert.deepEqual((await next()).key, b);
  assert.deepEqual((await next()).key, a);
});

test('a key added while it is worked on comes again afterwards, not before', async () => {
  const { queue, next } = setUp();
  queue.add(a);
  const first = await next();
  queue.add(a);
  queue.add(a);
  queue.add(b);
  assert.deepEqual((await next()).key, b);
  const again = next();
  first[Symbol.dispose]();
  const second = await again;
  assert.deepEqual(second.key, a);
  second[Symbol.dispose]();
  second[Symbol.dispose](); // once more changes nothing
  queue.add(a);
  assert.deepEqual((await next()).key, a);
});

test('an idle worker is woken by an add', async () => {
  const { queue, next } = setUp();
  const waiting = next();
  await nextTurn();
  queue.add(a);
  assert.deepEqual((await waiting).key, a);
});

test('of several delays for a key the earliest wins', async () => {
  const { clock, queue, next } = setUp();
  queue.addAfter(a, 300);
  queue.addAfter(a, 100);
  queue.addAfter(a, 200);
  const start = clock.now().getTime();
  const due = next().then(() => clock.now().getTime() - start);
  await clock.advance(1000);
  assert.equal(await due, 100);
  assert.equal(clock.sleeping, 0);
});

test('a delay of nothing is an add', async () => {
  const { queue, next } = setUp();
  queue.addAfter(a, 0);
  assert.deepEqual((await next()).key, a);
});

test('failures wait 5 ms, then twice as long each time up to the limit; success starts over', async () => {
  const { clock, queue, next } = setUp();
  for (const delayMs of [5, 10, 20, 40, 40]) {
    queue.addWithBackoff(a);
    let came = false;
    const retried = next().then((lease) => {
      came = true;
      return lease;
    });
    await clock.advance(delayMs - 1);
    assert.equal(came, false, `not before ${delayMs} ms`);
    await clock.advance(1);
    using _ = await retried;
  }
  queue.forget(a);
  queue.addWithBackoff(a);
  const retried = next();
  await clock.advance(5);
  await retried;
});

test('aborting ends a worker that waits', async () => {
  const { stop, leases } = setUp();
  const waiting = leases.next();
  await nextTurn();
  stop.abort();
  assert.equal((await waiting).done, true);
});

test('a closed queue lets its workers go and keeps no timer', async () => {
  const { clock, queue, leases } = setUp();
  queue.addAfter(a, 1000);
  const waiting = leases.next();
  await nextTurn();
  queue.close();
  assert.equal((await waiting).done, true);
  queue.add(a);
  queue.addAfter(b, 1000);
  queue.addWithBackoff(b);
  await nextTurn();
  assert.equal(clock.sleeping, 0);
});

test('whatever happens, one key has one worker, and the last add of every key is worked on', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: fc.nat(4) }),
    fc.record({ do: fc.constant('delay' as const), key: fc.nat(4), ms: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ do: fc.constant('fail' as const), key: fc.nat(4) }),
    fc.record({ do: fc.constant('finish' as const), key: fc.nat(4) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, workers) => {
        const clock = new FakeClock();
        const queue = new WorkQueue({ clock });
        const stop = new AbortController();
        const held = new Map<string, () => void>();
        const owed = new Set<string>();
        const work = async () => {
          for await (const lease of queue.leases(stop.signal)) {
            using _ = lease;
            const { name } = lease.key;
            assert.ok(!held.has(name), 'two workers on one key');
            owed.delete(name);
            await new Promise<void>((resolve) => held.set(name, resolve));
            held.delete(name);
          }
        };
        const pool = Array.from({ length: workers }, work);
        for (const s of steps) {
          if (s.do === 'pass') await clock.advance(s.ms);
          else if (s.do === 'finish') held.get(`k${s.key}`)?.();
          else {
            const name = `k${s.key}`;
            owed.add(name);
            if (s.do === 'add') queue.add({ name });
            else if (s.do === 'delay') queue.addAfter({ name }, s.ms);
            else queue.addWithBackoff({ name });
          }
          await nextTurn();
        }
        // Let every delay pass and every worker finish: nothing may be left owed.
        await clock.advance(3_600_000);
        for (let i = 0; i < 20; i++) {
          for (const finish of held.values()) finish();
          await nextTurn();
        }
        stop.abort();
        await Promise.all(pool);
        assert.deepEqual([...owed], []);
        assert.equal(clock.sleeping, 0);
      },
    ),
    { numRuns: 60 },
  );
});
