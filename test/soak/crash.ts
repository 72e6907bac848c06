/** `npm run soak -- crash [ROUNDS] [SEED]`: kill -9 under load, 200 times; every fifth time the log's end is torn as well. */
import { tearTail } from '../crash/damage.ts';
import { killRounds } from '../crash/rounds.ts';

export async function soak(
  [rounds = '200', seed = String(Date.now() % 2 ** 31)]: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const say = (line: string) => console.log(line);
  say(`seed ${seed}`);
  const began = performance.now();
  let deaths = 0;
  const report = await killRounds({
    rounds: Number(rounds),
    seed: Number(seed),
    damage: async (store, random) => (++deaths % 5 === 0 ? await tearTail(store, random) : undefined),
    signal,
    say,
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  for (const contradiction of report.contradictions) say(contradiction);
  say(
    `${rounds} rounds in ${seconds} s: ${report.acknowledged} writes acknowledged, ${report.events} events, ${report.contradictions.length} contradictions`,
  );
  if (report.contradictions.length > 0) process.exitCode = 1;
}
