/** Kills `hutch run` at random moments, over and over: whatever it had made by then, the next run removes. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { Machine, tracesOf } from '../e2e/support.ts';

/** Longer than a whole run takes, so that every moment of its life is hit. */
const lifeMs = 900;

export async function soak([rounds = '200', seed = String(Date.now())]: readonly string[]): Promise<void> {
  const random = randomFrom(Number(seed));
  process.stdout.write(`${rounds} rounds, seed ${seed}\n`);
  await using machine = new Machine();
  await machine.run(['run', '--', 'true']);
  const before = tracesOf(machine.dataDir);
  for (let round = 1; round <= Number(rounds); round++) {
    const together = 1 + Math.floor(random() * 3);
    await Promise.all(
      Array.from({ length: together }, async () => {
        const { child, finished } = machine.start(['run', '--', 'sleep', '30']);
        await setTimeout(random() * lifeMs); // the moment of death is what is tried here, so a pause is the point
        child.kill('SIGKILL');
        await finished;
      }),
    );
    const next = await machine.run(['run', '--', 'echo', 'hi']);
    assert.deepEqual([next.code, next.stdout], [0, 'hi\n'], `round ${round}: ${next.stderr}`);
    assert.deepEqual(tracesOf(machine.dataDir), before, `round ${round}`);
    if (round % 20 === 0) process.stdout.write(`${round} rounds: nothing left behind\n`);
  }
}

/** Small and repeatable; not for secrets. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
