import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault, ignoring, isFault, isTerminal, terminal } from './fault.ts';
import { jsonLog } from './log.ts';

test('a fault is known by its code, a plain error is not a fault', () => {
  const fault = new Fault('conflict', 'update pod a');
  assert.ok(isFault(fault));
  assert.ok(isFault(fault, 'not-found', 'conflict'));
  assert.ok(!isFault(fault, 'not-found'));
  assert.ok(!isFault(new Error('conflict')));
});

test('only a marked error is terminal', () => {
  assert.ok(isTerminal(terminal(new Fault('invalid', 'bad spec'))));
  assert.ok(!isTerminal(new Fault('invalid', 'bad spec')));
});

test('ignoring swallows the named failure and nothing else', async () => {
  assert.equal(await ignoring('not-found', Promise.reject(new Fault('not-found', 'get pod a'))), undefined);
  await assert.rejects(
    ignoring('not-found', Promise.reject(new Fault('conflict', 'update pod a'))),
    /update pod a/,
  );
});

test('a log line is one JSON object with its fields, the level is honoured and errors are readable', () => {
  const lines: string[] = [];
  const log = jsonLog((line) => lines.push(line), 'info').with({ part: 'router' });
  log.debug('not shown');
  log.error('forward failed', { err: new Error('reset') });
  assert.equal(lines.length, 1);
  const line = JSON.parse(lines[0] as string) as { part: string; message: string; err: { message: string } };
  assert.equal(line.part, 'router');
  assert.equal(line.message, 'forward failed');
  assert.equal(line.err.message, 'reset');
});
