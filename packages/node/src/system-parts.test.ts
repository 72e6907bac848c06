import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSystemParts } from './system-parts.ts';

test('every part of the machine that matters has a row with something to read', async () => {
  const parts = await findSystemParts();
  const names = parts.map(({ name }) => name);
  for (const name of [
    'linux',
    'root',
    'overlay',
    'cgroups',
    'nftables',
    'seccomp',
    'user namespaces',
    'runc',
    'conmon',
    'nft',
    'ip',
  ]) {
    assert.ok(names.includes(name), name);
  }
  for (const part of parts) assert.ok(part.detail.length > 0, part.name);
  assert.deepEqual(
    parts.filter(({ isRequired }) => !isRequired).map(({ name }) => name),
    ['user namespaces'],
  );
});
