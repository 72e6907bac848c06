import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { compareQuantities, quantityNanos } from './quantity.ts';

const unit = 1_000_000_000n;

const cases: [string | number, bigint][] = [
  ['1', unit],
  [2, 2n * unit],
  ['500m', unit / 2n],
  ['1.5', (3n * unit) / 2n],
  ['.5', unit / 2n],
  ['1.', unit],
  ['1k', 1000n * unit],
  ['1Ki', 1024n * unit],
  ['1.5Gi', 1_610_612_736n * unit],
  ['2e3', 2000n * unit],
  ['2E-3', 2_000_000n],
  ['1E', 10n ** 18n * unit],
  ['-1', -unit],
  ['+1', unit],
  ['0.1n', 1n],
  ['-0.1n', -1n],
];
for (const [text, want] of cases) {
  test(`${JSON.stringify(text)} is ${want} billionths`, () => assert.equal(quantityNanos(text), want));
}

for (const text of ['', 'abc', '1x', '1 Gi', '1e', '--1', '.', '1e999', '1constructor', '9'.repeat(200)]) {
  test(`${JSON.stringify(text.slice(0, 20))} is no quantity`, () => {
    assert.throws(
      () => quantityNanos(text),
      (err) => isFault(err, 'invalid'),
    );
  });
}

test('quantities compare by their value, however they are written', () => {
  assert.equal(compareQuantities('1Gi', '1G'), 1);
  assert.equal(compareQuantities('1000m', '1'), 0);
  assert.equal(compareQuantities('1e3', '1Ki'), -1);
});

test('any number with any suffix is as many units as the suffix says', () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom('', 'k', 'Mi'), (number, suffix) => {
      const factor = { '': 1n, k: 1000n, Mi: 1_048_576n }[suffix] ?? 0n;
      assert.equal(quantityNanos(`${number}${suffix}`), BigInt(number) * factor * unit);
    }),
  );
});
