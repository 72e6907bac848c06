import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault, silentLog, terminal } from '@hutch/base';
import type { ObjectKey } from '@hutch/kube-meta';
import { FakeClock } from '@hutch/testing';
import { type Reconcile, runController } from './control-loop.ts';
import { WorkQueue } from './work-queue.ts';

const key: ObjectKey = { namespace: 'ns', name: 'a' };

function started(reconcile: Reconcile, workers = 1) {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock });
  const stop = new AbortController();
  const running = runController(
    { name: 'test', queue, workers, reconcile, log: silentLog, clock },
    stop.signal,
  );
  return {
    clock,
    queue,
    stop,
    running,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

test('a key is reconciled with its log and signal, and looked at again when asked', async () => {
  const times: number[] = [];
  await using loop = started(async (got, { signal }) => {
    assert.deepEqual(got, key);
    assert.equal(signal.aborted, false);
    times.push(loop.clock.now().getTime());
    return times.length === 1 ? { requeueAfterMs: 1000 } : {};
  });
  const start = loop.clock.now().getTime();
  loop.queue.add(key);
  await loop.clock.untilSleeping(1);
  await loop.clock.advance(1000);
  assert.deepEqual(
    times.map((time) => time - start),
    [0, 1000],
  );
  assert.equal(loop.clock.sleeping, 0);
});

test('a failure is retried with growing delay, and success starts over', async () => {
  let calls = 0;
  await using loop = started(async () => {
    calls++;
    if (calls <= 3) throw calls === 2 ? new Error('a bug') : new Fault('unavailable', 'not now');
    return {};
  });
  loop.queue.add(key);
  for (const delayMs of [5, 10, 20]) {
    await loop.clock.untilSleeping(1);
    const before = calls;
    await loop.clock.advance(delayMs - 1);
    assert.equal(calls, before);
    await loop.clock.advance(1);
    assert.equal(calls, before + 1);
  }
  assert.equal(loop.clock.sleeping, 0);
});

test('a terminal failure waits for the next change', async () => {
  let calls = 0;
  const failed = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  await using loop = started(async () => {
    if (++calls === 2) again.resolve();
    else failed.resolve();
    throw terminal(new Fault('invalid', 'never'));
  });
  loop.queue.add(key);
  await failed.promise;
  await loop.clock.advance(3_600_000);
  assert.equal(calls, 1);
  loop.queue.add(key);
  await again.promise;
});

test('several workers work side by side, never on the same key', async () => {
  const both = Promise.withResolvers<void>();
  const busy = new Set<string>();
  await using loop = started(async ({ name }) => {
    assert.ok(!busy.has(name));
    busy.add(name);
    if (busy.size === 2) both.resolve();
    await both.promise;
    busy.delete(name);
    return {};
  }, 2);
  loop.queue.add({ name: 'a' });
  loop.queue.add({ name: 'b' });
  await both.promise;
});

test('stopping waits for the work under way, which hears of it', async () => {
  const begun = Promise.withResolvers<void>();
  let finished = false;
  await using loop = started(async (_, { signal }) => {
    begun.resolve();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    finished = true;
    signal.throwIfAborted();
    return {};
  });
  loop.queue.add(key);
  loop.queue.addAfter({ name: 'later' }, 1000);
  await begun.promise;
  loop.stop.abort();
  await loop.running;
  assert.equal(finished, true);
  assert.equal(loop.clock.sleeping, 0);
});
