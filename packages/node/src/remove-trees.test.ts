import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram, runCommand } from './command.ts';
import { mountsBelow, removeTrees } from './remove-trees.ts';

const tools = { rm: findProgram('rm') ?? '' };

async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'hutch-trees-'));
  return { path, [Symbol.asyncDispose]: () => removeTrees([path], tools) };
}

test('a tree deeper than any path is removed', async () => {
  await using directory = await temporaryDirectory();
  const tree = join(directory.path, 'tree');
  await mkdir(tree);
  const script = `cd "$1"; n=${'d'.repeat(200)}; i=0; while [ $i -lt 100 ]; do mkdir $n; cd -P $n; i=$((i + 1)); done`;
  await runCommand('/bin/sh', ['-c', script, 'sh', tree]);
  await removeTrees([tree], tools);
  assert.deepEqual(await readdir(directory.path), []);
});

test('what a link leads to stays', async () => {
  await using directory = await temporaryDirectory();
  const tree = join(directory.path, 'tree');
  const kept = join(directory.path, 'kept');
  await Promise.all([mkdir(tree), mkdir(kept)]);
  await writeFile(join(kept, 'file'), '');
  await symlink(kept, join(tree, 'link'));
  await symlink(kept, join(directory.path, 'link'));
  await removeTrees([tree, join(directory.path, 'link'), join(directory.path, 'absent')], tools);
  assert.deepEqual(await readdir(directory.path), ['kept']);
  assert.ok(existsSync(join(kept, 'file')));
});

const mountinfo = `22 1 254:0 / / rw - ext4 /dev/vda rw
23 22 0:5 / /data/a rw - tmpfs tmpfs rw
24 22 0:5 / /data/a/b\\040c/d rw - tmpfs tmpfs rw
25 22 0:5 / /data/ab rw - tmpfs tmpfs rw
`;

for (const { directory, want } of [
  { directory: '/data', want: ['/data/a', '/data/a/b c/d', '/data/ab'] },
  { directory: '/data/a', want: ['/data/a', '/data/a/b c/d'] },
  { directory: '/data/a/b c', want: ['/data/a/b c/d'] },
  { directory: '/data/a/b', want: [] },
  { directory: '/dat', want: [] },
]) {
  test(`what is mounted below ${directory}: ${want.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(mountsBelow(mountinfo, directory), want);
  });
}
