import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { pause, raceAbort, runTogether } from './abort.ts';

test('an aborted pause rejects with the reason and leaves no listener behind', async () => {
  const controller = new AbortController();
  const waiting = pause(60_000, controller.signal);
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(waiting, reason);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('a finished pause leaves no listener behind', async () => {
  const controller = new AbortController();
  await pause(0, controller.signal);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('racing an abort gives up waiting but lets finished work through', async () => {
  assert.equal(await raceAbort(Promise.resolve(7), new AbortController().signal), 7);
  const controller = new AbortController();
  const never = raceAbort(new Promise(() => {}), controller.signal);
  controller.abort(new Error('gone'));
  await assert.rejects(never, /gone/);
});

test('the first failure stops the other tasks, is thrown, and all are awaited', async () => {
  const ended: string[] = [];
  const failing = runTogether(new AbortController().signal, [
    async () => {
      throw new Error('boom');
    },
    async (signal) => {
      await pause(60_000, signal).finally(() => ended.push('other'));
    },
  ]);
  await assert.rejects(failing, /boom/);
  assert.deepEqual(ended, ['other']);
});

test('an outside stop ends all tasks without an error', async () => {
  const stop = new AbortController();
  const running = runTogether(stop.signal, [
    (signal) => pause(60_000, signal),
    (signal) => pause(60_000, signal),
  ]);
  stop.abort();
  await running;
});
