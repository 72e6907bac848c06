import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { parseQuantity } from './quantity.ts';

const cases: [text: string | number, want: number][] = [
  ['1', 1],
  [2, 2],
  ['500m', 0.5],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['64Mi', 64 * 2 ** 20],
  ['1Gi', 2 ** 30],
  ['1k', 1000],
  ['3e3', 3000],
  ['1E', 1e18],
];

for (const [text, want] of cases) {
  test(`the quantity ${text} is ${want}`, () => assert.equal(parseQuantity(text), want));
}

for (const text of ['', 'abc', '1Xi', '1 Gi', '--1', '1Gi5', 'Infinity', '1m1']) {
  test(`${JSON.stringify(text)} is not a quantity`, () => {
    assert.throws(() => parseQuantity(text), { code: 'invalid' });
  });
}

test('any text is either a finite number or refused as invalid', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.eEmkKMGi+-]{0,12}$/)), (text) => {
      try {
        return !Number.isNaN(parseQuantity(text));
      } catch (err) {
        return isFault(err, 'invalid');
      }
    }),
  );
});
