import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaces } from '@hutch/kube-meta';
import { openMemoryHome } from './memory-home.ts';

test('an interrupted home is away for as long as it was said, then back where it was', async () => {
  await using home = await openMemoryHome({ door: 'http' });
  await home.interrupt(async () => {
    await assert.rejects(home.client.list(namespaces), { code: 'unavailable' });
    assert.equal((await home.local.list(namespaces)).items.length, 1);
  });
  assert.equal((await home.client.list(namespaces)).items.length, 1);
});
