import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldText } from '@hutch/kube-meta';
import { doors, furnish, take } from './test-rig.ts';

test('events are forgotten an hour after they last happened, and their watchers are told', async () => {
  const [door] = doors;
  assert.ok(door);
  await using rig = await door.open();
  await furnish(rig);
  const stop = new AbortController();
  const running = rig.server.run(stop.signal);
  const events = '/api/v1/namespaces/default/events';
  const anEvent = (name: string, more: object = {}) => ({ metadata: { name }, involvedObject: {}, ...more });
  await rig.call('POST', events, { body: anEvent('old') });
  await rig.call('POST', events, { body: anEvent('repeating', { lastTimestamp: '2030-01-01T00:30:00Z' }) });
  const watch = await rig.watch(`${events}?watch=true&resourceVersion=${rig.storage.revision}`);

  rig.clock.advance(59 * 60_000);
  rig.clock.advance(60_000);
  // The first sweep may still be under way when the second is due: move on until the watcher hears.
  const deleted = take(watch, 1);
  await new Promise(setImmediate);
  rig.clock.advance(60_000);
  const [event] = await deleted;
  assert.equal(event?.type, 'DELETED');
  assert.equal(fieldText(event?.object, 'metadata.name'), 'old');
  assert.equal((await rig.call('GET', `${events}/repeating`)).status, 200);
  stop.abort();
  await running;
});
