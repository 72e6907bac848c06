import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProgram, runCommand } from './command.ts';

const sh = findProgram('sh') ?? 'sh';

test('a program’s output comes back, and it can read its input', async () => {
  assert.equal(await runCommand(sh, ['-c', 'cat'], { input: 'hello' }), 'hello');
});

test('a failure tells the exit status and what the program said', async () => {
  await assert.rejects(runCommand(sh, ['-c', 'echo sorry >&2; exit 3']), {
    code: 'internal',
    message: /exit 3: sorry/,
  });
});

test('a program that is not there is a fault too', async () => {
  await assert.rejects(runCommand('/no/such/program', []), { code: 'internal', message: /ENOENT/ });
});

test('a program that takes too long is killed', async () => {
  await assert.rejects(runCommand(sh, ['-c', 'exec sleep 60'], { timeoutMs: 20 }), { code: 'timeout' });
});

test('an aborted program is gone when the abort is reported', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const running = runCommand(sh, ['-c', 'exec sleep 60'], { signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(running, reason);
});

test('an input nobody reads is no failure', async () => {
  assert.equal(await runCommand(sh, ['-c', 'exit 0'], { input: 'x'.repeat(1_000_000) }), '');
});

test('programs are found in the usual places whatever PATH says', () => {
  assert.ok(findProgram('sh', '')?.endsWith('/sh'));
  assert.equal(findProgram('no-such-program-anywhere', '/nowhere:relative'), undefined);
});
