/**
 * The conformance suite. Ours is compared with the recorded answers of the real server, through both doors; where the
 * real server can run, the recordings are compared with it, so that all three agree.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { whyNoKubeRig } from '../../rigs/kube/index.ts';
import { allCases } from './cases/index.ts';
import type { Case } from './harness/case.ts';
import { describeDifferences, differencesOf } from './harness/difference.ts';
import { fixtureKey, readFixtures } from './harness/fixtures.ts';
import { judge, type KnownDifference } from './harness/known.ts';
import { type OurServer, openOurServer } from './harness/ours.ts';
import { openRealServer, type RealServer } from './harness/real.ts';
import { type Outcome, runCases } from './harness/run.ts';
import type { Target } from './harness/target.ts';
import { knownDifferences, knownInFuzz } from './known-differences.ts';
import { conformanceDocument, documentFile } from './report.ts';

const fixtures = readFixtures();
const never = new AbortController().signal;
const say = (line: string) => void process.stderr.write(`${line}\n`);
const used = new Set<KnownDifference>();

/** All cases run side by side before the first is judged; each is then a test of its own. */
function suite(name: string, target: () => Target, known: readonly KnownDifference[]): void {
  let outcomes: ReadonlyMap<Case, Outcome>;
  before(async () => {
    outcomes = await runCases(allCases, target(), never);
  });
  for (const testCase of allCases) {
    test(`${name}: ${fixtureKey(testCase)}`, (t) => {
      const outcome = outcomes.get(testCase);
      if (!outcome) return t.skip(`this door cannot carry ${testCase.needs}`);
      const expected = fixtures.get(fixtureKey(testCase));
      assert.ok(expected, 'no answer of the real server is recorded: run main.ts --record');
      const differences = differencesOf(outcome.transcript, expected);
      const judgement = judge({ testCase, target: target().name, differences }, known);
      for (const one of judgement.used) used.add(one);
      const text = describeDifferences(judgement.unexplained);
      assert.ok(judgement.unexplained.length === 0, `answers otherwise than the real server\n${text}`);
      assert.equal(outcome.failure, undefined, 'the case broke off');
    });
  }
}

// Asked anew only on request: a busy machine can make one of its timers late, which says nothing about ours.
const whyNoRealServer =
  process.env.HUTCH_ASK_KUBERNETES === undefined
    ? 'set HUTCH_ASK_KUBERNETES to ask the real server anew'
    : await whyNoKubeRig({ signal: never, say });

describe('the recorded answers are those of the real server', { skip: whyNoRealServer ?? false }, () => {
  let real: RealServer;
  before(async () => {
    real = await openRealServer(never, say);
  });
  after(() => real[Symbol.asyncDispose]());
  suite('real', () => real.target, []);
});

describe('our server answers as the real one did when it was recorded', () => {
  let ours: OurServer;
  before(async () => {
    ours = await openOurServer();
  });
  after(() => ours[Symbol.asyncDispose]());
  describe('in process', () => suite('in process', () => ours.inProcess, knownDifferences));
  describe('over HTTP', () => suite('over HTTP', () => ours.overHttp, knownDifferences));
  test('every difference on the list of known ones is still there', () => {
    const gone = knownDifferences.filter((one) => !used.has(one));
    assert.deepEqual(gone, [], 'take these off test/conformance/known-differences.ts');
  });
});

test('no recording is left of a case that is gone', () => {
  const keys = new Set(allCases.map(fixtureKey));
  assert.deepEqual(
    [...fixtures.keys()].filter((key) => !keys.has(key)),
    [],
  );
});

test('docs/api-conformance.md says what the suite says', () => {
  const wanted = conformanceDocument(allCases, { cases: knownDifferences, fuzz: knownInFuzz });
  assert.equal(readFileSync(documentFile, 'utf8'), wanted, 'run node test/conformance/main.ts --document');
});

test('the number of cases for each area', (t) => {
  for (const [area, cases] of Map.groupBy(allCases, (one) => one.area))
    t.diagnostic(`${area}: ${cases.length}`);
  t.diagnostic(`all: ${allCases.length}`);
  assert.ok(allCases.length >= 200);
});
