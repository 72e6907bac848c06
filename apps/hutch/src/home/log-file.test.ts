import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogFile } from './log-file.ts';

test('a log starts over when it is large and keeps the one before', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'hutch-log-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'log');
  const log = new LogFile(path, 100);
  for (let count = 0; count < 1000; count++) log.write(`line ${count}\n`);
  assert.ok(statSync(path).size <= 110);
  assert.ok(statSync(`${path}.1`).size <= 110);
  assert.match(readFileSync(path, 'utf8'), /line 999\n$/);
});

test('a log that cannot be written is no failure', () => {
  new LogFile('/nowhere/at/all').write('lost\n');
});
