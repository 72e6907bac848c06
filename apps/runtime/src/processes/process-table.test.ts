import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Launcher } from '../children/launcher.ts';
import type { ManagedProcess } from './managed-process.ts';
import { ProcessTable, type TableLimits } from './process-table.ts';

const beginning = { stdout: 0, stderr: 0 };
const table = (limits: Partial<TableLimits> = {}) => new ProcessTable(new Launcher(), process.env, limits);

async function written(managed: ManagedProcess, bytes: number): Promise<void> {
  while (managed.heldBytes < bytes) await managed.changed.next;
}

test('an attached process is killed when its caller stays away longer than the grace', async () => {
  const managed = await table({ graceMs: 50 }).start({ command: ['sleep', '60'] });
  managed.detach(managed.attach(beginning));
  await managed.ended;
  assert.deepEqual(managed.outcome, { type: 'exited', exit: { signal: 'SIGKILL' } });
});

test('a caller that never attached counts as away', async () => {
  const managed = await table({ graceMs: 50 }).start({ command: ['sleep', '60'] });
  await managed.ended;
  assert.deepEqual(managed.outcome, { type: 'exited', exit: { signal: 'SIGKILL' } });
});

test('a caller that comes back in time keeps its process', async () => {
  const managed = await table({ graceMs: 100 }).start({ command: ['sh', '-c', 'sleep 0.3; exit 8'] });
  managed.detach(managed.attach(beginning));
  managed.attach(beginning);
  await managed.ended;
  assert.deepEqual(managed.outcome, { type: 'exited', exit: { exitCode: 8 } });
});

test('a detached process lives on without anybody', async () => {
  const managed = await table({ graceMs: 20 }).start({
    command: ['sh', '-c', 'sleep 0.2; exit 8'],
    lifetime: 'detached',
  });
  await managed.ended;
  assert.deepEqual(managed.outcome, { type: 'exited', exit: { exitCode: 8 } });
});

test('a process that ended with more output than anybody came for says that output is lost', async () => {
  const flood = await table({ graceMs: 50, windowBytes: 1000 }).start({
    command: ['sh', '-c', 'head -c 10000000 /dev/zero & exit 0'],
    lifetime: 'detached',
  });
  await flood.ended;
  assert.deepEqual(flood.outcome?.type === 'failed' && flood.outcome.failure.reason, 'output-lost');
});

test('offsets that have left the window are told as expired', async () => {
  const managed = await table({ windowBytes: 1000 }).start({
    command: ['head', '-c', '500000', '/dev/zero'],
  });
  const reader = managed.attach(beginning);
  let at = 0;
  while (at < 500_000) {
    const { length } = managed.read('stdout', at, 1 << 20);
    at += length;
    managed.delivered('stdout', at);
    if (length === 0) await managed.changed.next;
  }
  managed.detach(reader);
  assert.throws(() => managed.attach(beginning), { code: 'expired' });
  managed.attach({ stdout: 500_000, stderr: 0 });
  await managed.ended;
});

test('a process whose output nobody reads is blocked, and goes on when somebody does', async () => {
  const managed = await table({ windowBytes: 100_000 }).start({
    command: ['sh', '-c', 'head -c 2000000 /dev/zero; echo end >&2'],
  });
  await written(managed, 100_000);
  assert.ok(managed.heldBytes < 1_000_000);
  managed.attach(beginning);
  for (let at = 0; at < 2_000_000; ) {
    const { length } = managed.read('stdout', at, 1 << 20);
    at += length;
    managed.delivered('stdout', at);
    if (length === 0) await managed.changed.next;
  }
  await managed.ended;
  assert.equal(Buffer.from(managed.read('stderr', 0, 10)).toString(), 'end\n');
});

test('more processes than the limit are refused, and one that ends makes room', async () => {
  const small = table({ maxRunning: 2 });
  const first = await small.start({ command: ['cat'], stdin: true });
  await small.start({ command: ['sleep', '0.05'] });
  await assert.rejects(small.start({ command: ['true'] }), { code: 'too-many-requests' });
  first.endStdin();
  await first.ended;
  const third = await small.start({ command: ['true'] });
  await third.ended;
  await small.allEnded();
});

test('ended processes are forgotten beyond their number, oldest first', async () => {
  const small = table({ maxEnded: 2 });
  const ids: string[] = [];
  for (let at = 0; at < 3; at++) {
    const managed = await small.start({ command: ['true'] });
    ids.push(managed.id);
    await managed.ended;
  }
  assert.throws(() => small.get(ids[0] ?? ''), { code: 'not-found' });
  assert.equal(small.get(ids[1] ?? '').id, ids[1]);
  assert.equal(small.get(ids[2] ?? '').id, ids[2]);
});
