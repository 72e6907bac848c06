import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSystemParts, userNamespaceRow } from './system-parts.ts';

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

const problem = 'run unshare: exit 1: unshare failed';
const sysctl = 'sysctl -w user.max_user_namespaces=15000';
for (const { name, limit, fix } of [
  { name: 'none are allowed', limit: '0\n', fix: sysctl },
  { name: 'some are allowed and it fails all the same', limit: '15000\n', fix: undefined },
  { name: 'the kernel has no such limit', limit: undefined, fix: undefined },
]) {
  test(`user namespaces that do not work tell why, and the remedy only when it is one: ${name}`, () => {
    const row = userNamespaceRow({ isUsable: false, problem }, limit);
    assert.ok(row.detail.includes(problem));
    assert.equal(row.fix, fix);
  });
}
