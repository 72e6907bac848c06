/** A short run; `npm run soak -- api-fuzz` does 10,000 sequences. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoKubeRig } from '../../../rigs/kube/index.ts';
import { openOurServer } from '../harness/ours.ts';
import { openRealServer } from '../harness/real.ts';
import { knownInFuzz } from '../known-differences.ts';
import { fuzz } from './fuzz.ts';

const say = (line: string) => void process.stderr.write(`${line}\n`);
const seed = Math.floor(Math.random() * 2 ** 31);
const whyNot = await whyNoKubeRig({ signal: new AbortController().signal, say });

test('random requests are answered alike by both servers', { skip: whyNot ?? false }, async (t) => {
  t.diagnostic(`seed ${seed}`);
  await using real = await openRealServer(t.signal, say);
  await using ours = await openOurServer();
  const targets = { ours: ours.inProcess, real: real.target };
  const result = await fuzz({
    ...targets,
    seed,
    runs: 1_000,
    timeLimitMs: 45_000,
    known: knownInFuzz,
    signal: t.signal,
  });
  t.diagnostic(`${result.runs} sequences`);
  const told = result.failures.map((one) => `seed ${one.seed}: ${JSON.stringify(one.sequence)}\n${one.text}`);
  assert.equal(told.length, 0, told.join('\n'));
  assert.ok(result.runs > 50, `only ${result.runs} sequences in the time`);
});
