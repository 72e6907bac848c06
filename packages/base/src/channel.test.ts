import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Channel } from './channel.ts';
import { isFault } from './fault.ts';

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of source) all.push(value);
  return all;
}

test('values come out in the order they went in, also when the reader waits first', async () => {
  const channel = new Channel<number>(8);
  const reading = collect(channel);
  channel.push(1);
  await Promise.resolve();
  channel.push(2);
  channel.push(3);
  channel.end();
  assert.deepEqual(await reading, [1, 2, 3]);
});

test('what was queued before the end is still delivered', async () => {
  const channel = new Channel<number>(8);
  channel.push(1);
  channel.end();
  assert.equal(channel.push(2), false);
  assert.deepEqual(await collect(channel), [1]);
});

test('a reader that falls behind gets what was queued and then a queue-full fault', async () => {
  const channel = new Channel<number>(2);
  assert.equal(channel.push(1), true);
  assert.equal(channel.push(2), true);
  assert.equal(channel.push(3), false);
  const seen: number[] = [];
  await assert.rejects(
    async () => {
      for await (const value of channel) seen.push(value);
    },
    (err) => isFault(err, 'queue-full'),
  );
  assert.deepEqual(seen, [1, 2]);
});

test('leaving the loop closes the channel once and refuses later values', async () => {
  let closed = 0;
  const channel = new Channel<number>(8, () => {
    closed++;
  });
  channel.push(1);
  for await (const _value of channel) break;
  assert.equal(closed, 1);
  assert.equal(channel.push(2), false);
});
