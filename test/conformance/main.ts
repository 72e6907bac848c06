/**
 * Runs cases on the real server and on ours and tells where they differ.
 *
 *   node test/conformance/main.ts [--only TEXT] [--door in-process|http] [--recorded | --record] [--quiet]
 *   node test/conformance/main.ts --document
 *
 * `--recorded` compares with the recorded answers instead of asking the real server. `--record` keeps what it answers
 * now; each case is then asked twice, since an answer that is not the same twice cannot be a measure. `--document`
 * writes docs/api-conformance.md.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { allCases } from './cases/index.ts';
import type { Case } from './harness/case.ts';
import { describeDifferences, differencesOf } from './harness/difference.ts';
import { fixtureKey, readFixtures, writeFixtures } from './harness/fixtures.ts';
import { judge } from './harness/known.ts';
import { openRealServer } from './harness/real.ts';
import { type Outcome, runCases } from './harness/run.ts';
import type { Transcript } from './harness/transcript.ts';
import { knownDifferences, knownInFuzz } from './known-differences.ts';
import { type AreaTotal, areaTable, conformanceDocument, documentFile } from './report.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    door: { type: 'string' },
    record: { type: 'boolean', default: false },
    recorded: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    document: { type: 'boolean', default: false },
  },
});
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)));

const say = (line: string) => console.log(line);
const cases = allCases.filter((one) => fixtureKey(one).includes(values.only));
type Answers = ReadonlyMap<Case, Transcript>;

if (values.document) document();
else if (values.record) await record();
else await compare(values.recorded ? recordedAnswers() : await realAnswers());

function document(): void {
  writeFileSync(documentFile, conformanceDocument(allCases, { cases: knownDifferences, fuzz: knownInFuzz }));
}

async function record(): Promise<void> {
  await using real = await openRealServer(stop.signal, say);
  const first = await runCases(cases, real.target, stop.signal);
  const second = await runCases(cases, real.target, stop.signal);
  for (const [testCase, { transcript, failure }] of first) {
    const again = second.get(testCase) as Outcome;
    const differences = differencesOf(transcript, again.transcript);
    const broken = failure ?? again.failure;
    if (broken !== undefined) say(`${fixtureKey(testCase)} broke off: ${broken}`);
    else if (differences.length > 0)
      say(`the real server is not of one mind: ${fixtureKey(testCase)}\n${describeDifferences(differences)}`);
  }
  writeFixtures(first, allCases);
}

async function realAnswers(): Promise<Answers> {
  await using real = await openRealServer(stop.signal, say);
  const outcomes = await runCases(cases, real.target, stop.signal);
  for (const [testCase, { failure }] of outcomes) {
    if (failure !== undefined) say(`real: ${fixtureKey(testCase)} broke off: ${failure}`);
  }
  return new Map([...outcomes].map(([testCase, { transcript }]) => [testCase, transcript]));
}

function recordedAnswers(): Answers {
  const fixtures = readFixtures();
  return new Map(cases.map((one) => [one, fixtures.get(fixtureKey(one)) ?? []]));
}

async function compare(reference: Answers): Promise<void> {
  // Loaded only now: answers can be recorded while our own server is being worked on.
  const { openOurServer } = await import('./harness/ours.ts');
  await using ours = await openOurServer();
  const totals = new Map<string, AreaTotal>();
  for (const target of [ours.inProcess, ours.overHttp]) {
    if (values.door !== undefined && !target.name.endsWith(values.door === 'http' ? 'HTTP' : 'process'))
      continue;
    for (const [testCase, outcome] of await runCases(cases, target, stop.signal)) {
      const differs = tell(target.name, testCase, outcome, reference.get(testCase) ?? []);
      const { cases: count, differing } = totals.get(testCase.area) ?? { cases: 0, differing: 0 };
      totals.set(testCase.area, { cases: count + 1, differing: differing + (differs ? 1 : 0) });
    }
  }
  say(areaTable(totals));
  if ([...totals.values()].some(({ differing }) => differing > 0)) process.exitCode = 1;
}

/** True when the case differs in a way that nobody has explained. */
function tell(target: string, testCase: Case, { transcript, failure }: Outcome, real: Transcript): boolean {
  const differences = differencesOf(transcript, real);
  const { unexplained } = judge({ testCase, target, differences }, knownDifferences);
  if (unexplained.length === 0 && failure === undefined) return false;
  if (!values.quiet) {
    say(`${target}: ${fixtureKey(testCase)}${failure === undefined ? '' : ` broke off: ${failure}`}`);
    if (unexplained.length > 0) say(describeDifferences(unexplained));
  }
  return true;
}
