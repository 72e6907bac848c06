import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { isRunning, ownIdentity } from './process-identity.ts';

test('this process runs, a namesake that started at another time is not it', () => {
  assert.ok(isRunning(ownIdentity()));
  assert.ok(!isRunning({ ...ownIdentity(), startedAt: '1' }));
});

test('a process that has ended does not run', async () => {
  const child = spawn('true');
  const pid = child.pid as number;
  await once(child, 'exit');
  assert.ok(!isRunning({ pid, startedAt: '1' }));
});
