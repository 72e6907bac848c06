import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameHash, serviceFqdn, trackingSelector, volumeClaimName } from './names.ts';

const vectors: [text: string, hash: string][] = [
  ['', '811c9dc5'],
  ['a', 'e40c292c'],
  ['my-sandbox', '374de8f5'],
  ['sandbox-name', 'ab179450'],
  ['pool', '91dd7983'],
  ['my-warm-pool', '034dafb4'],
  ['test-template-custom', '999443e6'],
  ['sandbox-name-with-a-very-long-label-value', '0a9ed996'],
];

for (const [text, hash] of vectors) {
  test(`the hash of ${JSON.stringify(text)} is ${hash} (SB-1, SB-2)`, () =>
    assert.equal(nameHash(text), hash));
}

test('a hash is always eight lower-case hex digits, so it fits a label', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => /^[0-9a-f]{8}$/.test(nameHash(text))));
});

test('children are named after their sandbox (SB-6, SB-8)', () => {
  assert.equal(volumeClaimName('my-pvc', 'sandbox-name'), 'my-pvc-sandbox-name');
  assert.equal(serviceFqdn('my-svc', 'my-ns', 'custom.domain'), 'my-svc.my-ns.svc.custom.domain');
  assert.equal(trackingSelector('my-sandbox'), 'agents.x-k8s.io/sandbox-name-hash=374de8f5');
});
