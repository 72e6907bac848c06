import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
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

test('a program is told nothing of where we were started from', async () => {
  const text = await runCommand(sh, ['-c', 'env']);
  const names = text.split('\n').map((entry) => entry.split('=')[0] ?? '');
  const own = ['LC_ALL', 'PATH'];
  const foreign = names.filter(
    (name) => name !== '' && !own.includes(name) && !['PWD', '_', 'SHLVL', 'OLDPWD'].includes(name),
  );
  assert.deepEqual(foreign, []);
});

test('programs are found where the caller says, too', () => {
  const path = `relative:${dirname(process.execPath)}`;
  assert.ok(findProgram(basename(process.execPath), path));
});

test('programs are found in the usual places whatever PATH says', () => {
  assert.ok(findProgram('sh', '')?.endsWith('/sh'));
  assert.equal(findProgram('no-such-program-anywhere', '/nowhere:relative'), undefined);
});
