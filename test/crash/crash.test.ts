/** A short run; `npm run soak -- crash` does 200 rounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killRounds } from './rounds.ts';

const seed = Math.floor(Math.random() * 2 ** 31);

test('after kill -9 under load every acknowledged write is there, none is half, and watchers go on', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const report = await killRounds({ rounds: 12, seed, signal: t.signal });
  t.diagnostic(`${report.acknowledged} writes acknowledged, ${report.events} events`);
  assert.deepEqual(report.contradictions, [], `seed ${seed}`);
  assert.ok(report.acknowledged > 100, `only ${report.acknowledged} writes were acknowledged`);
  assert.ok(report.events > 100, `only ${report.events} events were seen`);
});
