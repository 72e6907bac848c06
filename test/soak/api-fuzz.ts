/**
 * `npm run soak -- api-fuzz [--runs N] [--seed N] [--minutes N] [--survey]`: random requests to the real server and ours.
 *
 * Stops at the first differences and shows the shortest sequences that bring them about. A survey goes on, and shows
 * each kind of difference once with the number of times it was met.
 */
import { parseArgs } from 'node:util';
import { fuzz, survey } from '../conformance/fuzz/fuzz.ts';
import { openOurServer } from '../conformance/harness/ours.ts';
import { openRealServer } from '../conformance/harness/real.ts';
import { knownInFuzz } from '../conformance/known-differences.ts';

export async function soak(args: readonly string[], signal: AbortSignal): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '10000' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      minutes: { type: 'string', default: '60' },
      survey: { type: 'boolean', default: false },
    },
  });
  const say = (line: string) => console.log(line);
  say(`seed ${values.seed}`);
  await using real = await openRealServer(signal, say);
  await using ours = await openOurServer();
  const options = {
    ours: ours.inProcess,
    real: real.target,
    seed: Number(values.seed),
    runs: Number(values.runs),
    timeLimitMs: Number(values.minutes) * 60_000,
    known: knownInFuzz,
    signal,
  };
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;
  if (values.survey) {
    const { runs, kinds } = await survey(options);
    for (const { count, text } of kinds) say(`${count} times, for example\n${text}`);
    return say(`${runs} sequences in ${seconds()}: ${kinds.length} kinds of difference`);
  }
  const { runs, failures } = await fuzz(options);
  for (const { seed, sequence, text } of failures) say(`seed ${seed}: ${JSON.stringify(sequence)}\n${text}`);
  say(
    `${runs} sequences in ${seconds()}: ${failures.length === 0 ? 'no unexplained difference' : 'they differ'}`,
  );
  if (failures.length > 0) process.exitCode = 1;
}
