import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from './config.ts';

test('the defaults are port 8888 and /workspace', () => {
  assert.deepEqual(loadConfig(['serve']), { port: 8888, root: '/workspace', command: [] });
});

test('flags come before the command, and what follows belongs to the command', () => {
  assert.deepEqual(loadConfig(['serve', '--port', '80', '--root=/app', '--', 'sh', '--port', '--', 'x']), {
    port: 80,
    root: '/app',
    command: ['sh', '--port', '--', 'x'],
  });
});

for (const argv of [
  [],
  ['run'],
  ['serve', 'x'],
  ['serve', '--port', 'x'],
  ['serve', '--port=70000'],
  ['serve', '--nope'],
]) {
  test(`${JSON.stringify(argv)} is refused`, () => {
    assert.throws(() => loadConfig(argv), { code: 'invalid' });
  });
}
