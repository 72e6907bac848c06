import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareQuantities } from './quantity.ts';
import { canonicalQuantity } from './quantity-text.ts';

const cases: Readonly<Record<string, string>> = {
  '0': '0',
  '0m': '0',
  '1': '1',
  '100m': '100m',
  '1000m': '1',
  '1500m': '1500m',
  '0.5': '500m',
  '1.5': '1500m',
  '1.500': '1.500',
  '.5': '500m',
  '1000': '1k',
  '2000000': '2M',
  '1Ki': '1Ki',
  '1024Ki': '1Mi',
  '1.5Gi': '1536Mi',
  '0.5Ki': '512',
  '1e3': '1e3',
  '1000e3': '1e6',
  '-100m': '-100m',
  '1G': '1G',
  '1E': '1E',
};
for (const [text, want] of Object.entries(cases)) {
  test(`${text} is written ${want}`, () => assert.equal(canonicalQuantity(text), want));
}

const refused: Readonly<Record<string, RegExp>> = {
  '': /must match/,
  abc: /must match/,
  '1 ': /must match/,
  '1x': /must match/,
  '1KM': /suffix/,
  m: /numeric part/,
};
for (const [text, words] of Object.entries(refused)) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(() => canonicalQuantity(text), { code: 'invalid', message: words });
  });
}

test('the canonical form means the same, and is its own', () => {
  const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'u', 'n', 'e3');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), suffix, (value, unit) => {
      const canonical = canonicalQuantity(`${value}${unit}`);
      assert.equal(compareQuantities(canonical, `${value}${unit}`), 0);
      assert.equal(canonicalQuantity(canonical), canonical);
    }),
  );
});
