/**
 * Differential fuzzing: the same random requests to two servers, their answers compared. Several workers, each in a
 * namespace of its own and with a seed of its own, so that any of them can be run again alone.
 */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { define } from '../cases/objects.ts';
import { type Difference, describeDifferences, differencesOf } from '../harness/difference.ts';
import { judge, type KnownDifference } from '../harness/known.ts';
import { Scene } from '../harness/scene.ts';
import type { Target } from '../harness/target.ts';
import type { Transcript } from '../harness/transcript.ts';
import { type Sequence, sequences, widgetSchema } from './grammar.ts';
import { play } from './play.ts';

export interface FuzzOptions {
  readonly ours: Target;
  readonly real: Target;
  readonly seed: number;
  /** How many sequences, over all workers. */
  readonly runs: number;
  /** Ends earlier when this is over. */
  readonly timeLimitMs: number;
  readonly workers?: number;
  readonly known?: readonly KnownDifference[];
  readonly signal: AbortSignal;
}

export interface FuzzResult {
  readonly runs: number;
  readonly failures: readonly FuzzFailure[];
}

interface FuzzFailure {
  readonly seed: number;
  /** Shrunk as far as it still differs. */
  readonly sequence: Sequence;
  readonly text: string;
}

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { workers = 3, runs, seed } = options;
  const share = Math.ceil(runs / workers);
  const results = await Promise.all(
    Array.from({ length: workers }, (_, worker) =>
      fuzzAlone({ ...options, runs: share, seed: seed + worker }),
    ),
  );
  return {
    runs: results.reduce((sum, result) => sum + result.runs, 0),
    failures: results.flatMap(({ failures }) => failures),
  };
}

async function fuzzAlone({
  ours,
  real,
  seed,
  runs,
  timeLimitMs,
  known = [],
  signal,
}: FuzzOptions): Promise<FuzzResult> {
  const fields = [await openField(ours, signal), await openField(real, signal)] as const;
  let count = 0;
  let found: readonly Difference[] = [];
  const property = fc.asyncProperty(sequences, async (sequence) => {
    signal.throwIfAborted();
    count++;
    const [mine, theirs] = await Promise.all(fields.map((field) => field(sequence)));
    const differences = differencesOf(mine as Transcript, theirs as Transcript);
    const testCase = { area: 'fuzz', name: sequence.watched };
    const { unexplained } = judge({ testCase, target: ours.name, differences }, known);
    if (unexplained.length > 0) found = unexplained;
    return unexplained.length === 0;
  });
  const result = await fc.check(property, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: timeLimitMs,
    maxSkipsPerRun: 0,
  });
  if (!result.failed) return { runs: count, failures: [] };
  const [sequence] = result.counterexample ?? [];
  if (!sequence || found.length === 0) throw new Error('fuzzing broke off', { cause: result.errorInstance });
  return {
    runs: count,
    failures: [{ seed, sequence, text: describeDifferences(found) }],
  };
}

export interface Survey {
  readonly runs: number;
  /** The most frequent first. */
  readonly kinds: readonly { readonly count: number; readonly text: string }[];
}

/** Goes on whatever it finds. What differs in the same place of the same kind of request is one kind of difference. */
export async function survey({
  ours,
  real,
  seed,
  runs,
  timeLimitMs,
  workers = 3,
  known = [],
  signal,
}: FuzzOptions): Promise<Survey> {
  const until = performance.now() + timeLimitMs;
  const kinds = new Map<string, { count: number; text: string }>();
  const waiting = fc.sample(sequences, { seed, numRuns: runs });
  let count = 0;
  const work = async () => {
    const fields = [await openField(ours, signal), await openField(real, signal)] as const;
    for (let next = waiting.pop(); next && performance.now() < until; next = waiting.pop()) {
      signal.throwIfAborted();
      count++;
      const sequence = next;
      const [mine, theirs] = await Promise.all(fields.map((field) => field(sequence)));
      const differences = differencesOf(mine as Transcript, theirs as Transcript);
      const testCase = { area: 'fuzz', name: sequence.watched };
      const { unexplained } = judge({ testCase, target: ours.name, differences }, known);
      // What follows a first difference often follows from it.
      const first = unexplained.filter(({ step }) => step === unexplained[0]?.step);
      if (first.length > 0) noteKind(kinds, first, sequence);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { runs: count, kinds: [...kinds.values()].sort((a, b) => b.count - a.count) };
}

function noteKind(
  kinds: Map<string, { count: number; text: string }>,
  differences: readonly Difference[],
  { ops }: Sequence,
): void {
  const [first] = differences as [Difference];
  const message = differences.find(({ place }) => place === 'body.message');
  const shape = (text: unknown) =>
    String(text)
      .replaceAll(/"[^"]*"|\d+/g, '_')
      .slice(0, 60);
  const key = [
    first.request.split('?')[0]?.replace(/\/[abc]$/, '/name'),
    first.place,
    shape(message?.real),
    shape(message?.ours),
  ].join(' ');
  const known = kinds.get(key);
  if (known) known.count++;
  else
    kinds.set(key, {
      count: 1,
      text: `  ${JSON.stringify(ops.slice(0, first.step + 1)).slice(0, 1500)}\n${describeDifferences(differences, 4)}`,
    });
}

/** A namespace and a kind of its own on a server; gives what the server answers to a sequence. */
async function openField(
  target: Target,
  signal: AbortSignal,
): Promise<(sequence: Sequence) => Promise<Transcript>> {
  const id = `f${randomBytes(8).toString('hex').slice(0, 9)}`;
  const scene = new Scene(target, id, signal);
  await scene.prepare('POST', '/api/v1/namespaces', { metadata: { name: scene.namespace } });
  await scene.settled(scene.in('serviceaccounts', 'default'), (account) => account !== undefined);
  await define(scene, { schema: widgetSchema, version: { subresources: { status: {} } } });
  return async (sequence) => {
    await using one = new Scene(target, id, signal);
    await play(one, sequence);
    return one.transcript;
  };
}
