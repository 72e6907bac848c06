/**
 * Our home controllers and Kubernetes' own, looked at through the same cases.
 *
 * Where a real cluster can run, both are asked now and must see the same; where it cannot, ours must see what the
 * real one saw when it was recorded (HUTCH_RECORD=1 records).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyNoKubeRig } from '../../../rigs/kube/index.ts';
import { areas } from './areas.ts';
import { type Recorded, readRecorded, writeRecorded } from './recorded.ts';
import { type Outcome, runAreas } from './run.ts';
import { openOurs, openReal } from './targets.ts';

const signal = AbortSignal.timeout(20 * 60_000);
const whyNot = await whyNoKubeRig({ signal, say: () => {} });

const runOurs = async (): Promise<readonly Outcome[]> => {
  await using target = await openOurs();
  return await runAreas(areas, target, signal);
};
const runReal = async (): Promise<readonly Outcome[]> => {
  await using target = await openReal(signal);
  return await runAreas(areas, target, signal);
};

function asRecorded(outcomes: readonly Outcome[]): Recorded {
  const byArea = Map.groupBy(outcomes, ({ area }) => area);
  const sorted = areas.map(({ area, cases }) => {
    const found = byArea.get(area) ?? [];
    const values = cases.map(({ name }) => {
      const seen = found.find((outcome) => outcome.name === name)?.seen;
      return [name, seen && 'value' in seen ? seen.value : seen] as const;
    });
    return [area, Object.fromEntries(values)] as const;
  });
  return Object.fromEntries(sorted);
}

const [ours, real] = await Promise.all([runOurs(), whyNot === undefined ? runReal() : undefined]);
const expected = real ? asRecorded(real) : readRecorded();
if (real && process.env.HUTCH_RECORD) writeRecorded(expected);
const seen = asRecorded(ours);

for (const { area, cases } of areas) {
  test(`${area}: ${cases.length} cases`, async (t) => {
    for (const { name } of cases) {
      await t.test(name, () => {
        const wanted = expected[area]?.[name];
        assert.ok(!isFailure(wanted), `the real cluster: ${JSON.stringify(wanted)}`);
        assert.deepEqual(seen[area]?.[name], wanted);
      });
    }
  });
}

function isFailure(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'failure' in value;
}

test('what was recorded is what the real cluster does', { skip: whyNot ?? false }, () => {
  assert.deepEqual(expected, readRecorded(), 'record anew with HUTCH_RECORD=1 if the cases changed');
});
