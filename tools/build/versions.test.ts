import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { publish } from './versions.ts';

test('the link leads to the newest build, a few earlier ones stay, a failed one changes nothing', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'hutch-build-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const link = join(directory, 'program');
  const write = (text: string) => async (draft: string) => writeFileSync(join(draft, 'file'), text);
  for (const version of ['one', 'two', 'three', 'four', 'five']) await publish(link, version, write(version));
  assert.equal(readFileSync(join(link, 'file'), 'utf8'), 'five');
  assert.equal(readdirSync(`${link}-versions`).length, 3);

  const failing = publish(link, 'six', async () => {
    throw new Error('does not compile');
  });
  await assert.rejects(failing, /does not compile/);
  assert.equal(readFileSync(join(link, 'file'), 'utf8'), 'five');
  assert.ok(!readdirSync(`${link}-versions`).some((name) => name.startsWith('draft-')));
});
