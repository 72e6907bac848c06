import assert from 'node:assert/strict';
import { test } from 'node:test';
import { driftedCrds } from './crds.ts';

test('the committed CRDs are those the schemas make (node tools/generate/crds.ts)', async () => {
  assert.deepEqual(await driftedCrds(), []);
});
