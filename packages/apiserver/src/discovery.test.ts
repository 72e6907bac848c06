import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byPriority } from './served-groups.ts';

test('versions are ranked stable before beta before alpha, newer first, odd ones last', () => {
  const ranked = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
  ];
  assert.deepEqual(ranked.toReversed().sort(byPriority), ranked);
});
