import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkDirectory, resolveProgram } from './resolve-program.ts';

describe('a program', () => {
  let home: string;
  before(() => {
    home = mkdtempSync(join(tmpdir(), 'programs-'));
    for (const folder of ['a', 'b', 'b/folder']) mkdirSync(join(home, folder));
    for (const file of ['a/tool', 'b/tool', 'b/other']) writeFileSync(join(home, file), '');
    for (const file of ['b/tool', 'b/other']) chmodSync(join(home, file), 0o755);
  });
  after(() => rmSync(home, { recursive: true }));

  const cases: { name: string; path?: string; found?: string; reason?: string }[] = [
    { name: 'tool', path: 'a:b', found: 'b/tool' },
    { name: 'tool', path: 'a', reason: 'not-executable' },
    { name: 'other', path: 'a:b', found: 'b/other' },
    { name: 'nothing', path: 'a:b', reason: 'not-found' },
    { name: 'folder', path: 'a:b', reason: 'not-executable' },
    { name: './b/tool', found: 'b/tool' },
    { name: 'b/../a/../b/tool', found: 'b/tool' },
    { name: './a/tool', reason: 'not-executable' },
    { name: './a/tool/x', reason: 'not-found' },
    { name: '', reason: 'not-found' },
  ];
  for (const { name, path, found, reason } of cases) {
    test(`${JSON.stringify(name)} on PATH ${path ?? 'default'} is ${found ?? reason}`, async () => {
      const resolved = resolveProgram(name, path, home);
      if (found) assert.equal(await resolved, join(home, found));
      else await assert.rejects(resolved, { reason });
    });
  }

  test('a directory that is missing or is a file cannot be worked in', async () => {
    await checkDirectory(home);
    await assert.rejects(checkDirectory(join(home, 'none')), { reason: 'bad-directory' });
    await assert.rejects(checkDirectory(join(home, 'a/tool')), { reason: 'bad-directory' });
  });
});
