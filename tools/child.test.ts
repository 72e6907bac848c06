import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type ChildOptions, runChild } from './child.ts';

const options: ChildOptions = { cwd: '/', signal: new AbortController().signal, timeoutMs: 60_000 };
const sh = (script: string, more: Partial<ChildOptions> = {}) =>
  runChild(['sh', '-c', script], { ...options, ...more });

/** Resolves when the process is gone, or dead and waiting to be collected. Being killed takes it a moment. */
async function gone(pid: string): Promise<void> {
  for (;;) {
    try {
      if (/\) [ZX] /.test(readFileSync(`/proc/${pid.trim()}/stat`, 'utf8'))) return;
    } catch {
      return; // no such process any more
    }
    await new Promise(setImmediate);
  }
}

test('child: the exit status and both outputs are the result', async () => {
  const { code, output, timedOut } = await sh('echo out; echo err >&2; exit 3');
  assert.deepEqual([code, timedOut], [3, false]);
  assert.deepEqual(output.split('\n').sort(), ['', 'err', 'out']);
});

test('child: death by a signal is 128 and its number', async () => {
  assert.equal((await sh('kill -9 $$')).code, 137);
});

test('child: a command that does not exist is thrown', async () => {
  await assert.rejects(runChild(['/no/such/command'], options), { code: 'ENOENT' });
});

test('child: a late child is stopped with all it started', { timeout: 20_000 }, async () => {
  const { timedOut, output } = await sh('sleep 600 & echo $!; wait', { timeoutMs: 300 });
  assert.equal(timedOut, true);
  await gone(output);
});

test('child: what a finished child leaves running is ended', { timeout: 20_000 }, async () => {
  const { code, output } = await sh('sleep 600 & echo $!');
  assert.equal(code, 0);
  await gone(output);
});

test('child: abort stops it and throws the reason', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const onReport = (report: NodeJS.ReadableStream) => report.once('data', () => stop.abort(reason));
  await assert.rejects(sh('echo ready >&3; sleep 600', { signal: stop.signal, onReport }), reason);
});

test('child: much output is kept from its end', async () => {
  const { output } = await sh('yes 0123456789 | head -c 1000000; echo; echo last');
  assert.ok(output.length <= 512 * 1024, String(output.length));
  assert.ok(output.endsWith('last\n'));
});
