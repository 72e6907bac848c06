import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageText, durationText } from './age.ts';

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;

const cases: [number, string][] = [
  [-3 * second, '<invalid>'],
  [-1 * second, '0s'],
  [0, '0s'],
  [119 * second, '119s'],
  [120 * second, '2m'],
  [185 * second, '3m5s'],
  [20 * 60 * second, '20m'],
  [5 * hour + 10 * 60 * second, '5h10m'],
  [30 * hour, '30h'],
  [3 * day + 4 * hour, '3d4h'],
  [3 * day, '3d'],
  [40 * day, '40d'],
  [800 * day, '2y70d'],
  [10 * 365 * day, '10y'],
];

for (const [ms, want] of cases) test(`${ms} ms are ${want}`, () => assert.equal(durationText(ms), want));

test('a time that is none has an unknown age', () => {
  assert.equal(ageText(undefined, new Date()), '<unknown>');
  assert.equal(ageText('yesterday', new Date()), '<unknown>');
});
