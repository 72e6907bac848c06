/** Needs root: it mounts. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { requireTools, runCommand } from './command.ts';
import { removeTrees } from './remove-trees.ts';

test('nothing is removed through a mount', async () => {
  const tools = requireTools();
  const top = await mkdtemp(join(tmpdir(), 'hutch-trees-'));
  const mounted = join(top, 'tree', 'in', 'mounted');
  const elsewhere = join(top, 'elsewhere');
  try {
    await Promise.all([mkdir(mounted, { recursive: true }), mkdir(elsewhere)]);
    await writeFile(join(elsewhere, 'file'), '');
    await runCommand(tools.mount, ['--bind', elsewhere, mounted]);
    try {
      await assert.rejects(removeTrees([join(top, 'tree')], tools), /in\/mounted is a mount$/);
    } finally {
      await runCommand(tools.umount, [mounted]);
    }
    assert.deepEqual(await readdir(elsewhere), ['file']);
    await removeTrees([join(top, 'tree')], tools);
    assert.deepEqual(await readdir(top), ['elsewhere']);
  } finally {
    await rm(top, { recursive: true });
  }
});
