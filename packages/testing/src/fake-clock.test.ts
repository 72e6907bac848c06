import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from './fake-clock.ts';

test('sleepers wake in the order they are due, at the time they asked for', async () => {
  const clock = new FakeClock(new Date(0));
  const woken: [string, number][] = [];
  const sleep = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push([name, clock.now().getTime()]);
  };
  const all = Promise.all([sleep('late', 300), sleep('early', 100), sleep('middle', 200)]);
  await clock.advance(250);
  assert.deepEqual(woken, [
    ['early', 100],
    ['middle', 200],
  ]);
  assert.equal(clock.sleeping, 1);
  await clock.advance(50);
  await all;
  assert.equal(clock.now().getTime(), 300);
});

test('a loop that sleeps again is woken again within one advance', async () => {
  const clock = new FakeClock();
  let rounds = 0;
  const loop = (async () => {
    for (; rounds < 10; rounds++) await clock.sleep(1000);
  })();
  await clock.advance(10_000);
  await loop;
  assert.equal(rounds, 10);
});

test('an aborted sleep rejects with the reason and is forgotten', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const asleep = clock.sleep(1000, stop.signal);
  const reason = new Error('enough');
  stop.abort(reason);
  await assert.rejects(asleep, (err) => err === reason);
  assert.equal(clock.sleeping, 0);
});

test('a test can wait until somebody sleeps', async () => {
  const clock = new FakeClock();
  const seen = clock.untilSleeping(2);
  const both = Promise.all([clock.sleep(1), clock.sleep(1)]);
  await seen;
  await clock.advance(1);
  await both;
});
