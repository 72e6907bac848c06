import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { kubernetesVersion } from './binaries.ts';

const goMod = readFileSync(join(import.meta.dirname, 'go/go.mod'), 'utf8');

test('the version that is stamped into the binaries is the one that go.mod pins', () => {
  assert.match(goMod, new RegExp(`^\\tk8s\\.io/kubernetes v${RegExp.escape(kubernetesVersion)}\\b`, 'm'));
});

test('every staging module is replaced by the published one of the same release', () => {
  const replaced = [...goMod.matchAll(/^\t(k8s\.io\/[\w-]+) => (\S+) (\S+)$/gm)];
  assert.ok(replaced.length > 20, `only ${replaced.length} are replaced`);
  for (const [, from, to, version] of replaced)
    assert.deepEqual([to, version], [from, kubernetesVersion.replace(/^1/, 'v0')]);
});
