/** What a watcher can rely on: every case runs through both doors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldText, type WatchEvent } from '@hutch/kube-meta';
import { aPod, aWidget, doors, furnish, type OpenRig, pods, type Rig, take, widgets } from './test-rig.ts';

async function furnished(open: OpenRig, options: Parameters<OpenRig>[0] = {}) {
  const rig = await open(options);
  await furnish(rig);
  return rig;
}

const patch = (rig: Rig, path: string, body: unknown) =>
  rig.call('PATCH', path, { body, contentType: 'application/merge-patch+json' });

const briefly = (events: WatchEvent[]) =>
  events.map(({ type, object }) => `${type} ${'name' in object.metadata ? object.metadata.name : ''}`);

for (const { name: doorName, open } of doors) {
  describe(`watching ${doorName}`, () => {
    test('begins with everything there is, then tells what happens', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const events = await rig.watch(`${widgets}?watch=true`);
      await rig.call('POST', widgets, { body: aWidget('b') });
      const { object } = await patch(rig, `${widgets}/a`, { spec: { size: 2 } });
      await rig.call('DELETE', `${widgets}/b`);
      const seen = await take(events, 4);
      assert.deepEqual(briefly(seen), ['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
      assert.deepEqual(seen[2]?.object, object);
      assert.equal(seen[3]?.object.metadata.resourceVersion, String(rig.storage.revision));
    });

    test('goes on from a resourceVersion without a gap', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', widgets, { body: aWidget('a') });
      await rig.call('POST', widgets, { body: aWidget('b') });
      const events = await rig.watch(`${widgets}?watch=1&resourceVersion=${object.metadata.resourceVersion}`);
      await rig.call('POST', widgets, { body: aWidget('c') });
      assert.deepEqual(briefly(await take(events, 2)), ['ADDED b', 'ADDED c']);
    });

    test('objects that come into a selection are added, those that leave it deleted', async () => {
      await using rig = await furnished(open);
      const events = await rig.watch(`${widgets}?watch=True&labelSelector=in%3Dyes`);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const label = (value: string | null) =>
        patch(rig, `${widgets}/a`, { metadata: { labels: { in: value } } });
      await label('yes');
      await patch(rig, `${widgets}/a`, { spec: { size: 2 } });
      const { object: left } = await label(null);
      await label('yes');
      await rig.call('DELETE', `${widgets}/a`);
      const seen = await take(events, 5);
      assert.deepEqual(briefly(seen), ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
      const [, , deleted] = seen;
      assert.equal(deleted?.object.metadata.resourceVersion, left.metadata.resourceVersion);
      assert.equal(fieldText(deleted?.object, 'metadata.labels.in'), 'yes');
    });

    test('field selectors follow pods to their node', async () => {
      await using rig = await furnished(open);
      const events = await rig.watch('/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn1');
      await rig.call('POST', pods, { body: aPod('a') });
      await rig.call('POST', `${pods}/a/binding`, {
        body: { metadata: { name: 'a' }, target: { name: 'n1' } },
      });
      await rig.call('DELETE', `${pods}/a?gracePeriodSeconds=0`);
      assert.deepEqual(briefly(await take(events, 2)), ['ADDED a', 'DELETED a']);
    });

    test('ends exactly at its time, with a bookmark if those were asked for', async () => {
      await using rig = await furnished(open);
      const { revision } = rig.storage;
      const events = await rig.watch(
        `${widgets}?watch=true&resourceVersion=${revision}&timeoutSeconds=5&allowWatchBookmarks=true`,
      );
      const all = take(events, 10);
      rig.clock.advance(4_999);
      await rig.call('POST', widgets, { body: aWidget('a') });
      rig.clock.advance(1);
      const seen = await all;
      assert.deepEqual(
        seen.map(({ type }) => type),
        ['ADDED', 'BOOKMARK'],
      );
      assert.deepEqual(seen[1]?.object, {
        kind: 'Widget',
        apiVersion: 'example.com/v1',
        metadata: { resourceVersion: String(rig.storage.revision) },
      });
    });

    test('a quiet watch tells now and then how far it has come', async () => {
      await using rig = await furnished(open);
      const { revision } = rig.storage;
      const events = await rig.watch(
        `${widgets}?watch=true&resourceVersion=${revision}&allowWatchBookmarks=true`,
      );
      const first = take(events, 1);
      await rig.call('POST', pods, { body: aPod('elsewhere') });
      rig.clock.advance(60_000);
      const [bookmark] = await first;
      assert.equal(bookmark?.type, 'BOOKMARK');
      assert.equal(bookmark?.object.metadata.resourceVersion, String(rig.storage.revision));
    });

    test('initial events end with a marked bookmark where that is asked for', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const path = `${widgets}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`;
      const seen = await take(await rig.watch(path), 2);
      assert.deepEqual(
        seen.map(({ type }) => type),
        ['ADDED', 'BOOKMARK'],
      );
      assert.match(JSON.stringify(seen[1]), /"annotations":\{"k8s.io\/initial-events-end":"true"\}/);
    });

    test('a place in history that is gone is told in the stream', async () => {
      await using rig = await furnished(open, { store: { historyLimit: 4 } });
      const { revision } = rig.storage;
      for (let size = 1; size < 12; size++) await rig.call('POST', widgets, { body: aWidget(`w${size}`) });
      const seen = await take(await rig.watch(`${widgets}?watch=true&resourceVersion=${revision}`), 5);
      assert.equal(seen.length, 1);
      const [event] = seen;
      assert.equal(event?.type, 'ERROR');
      assert.equal(fieldText(event?.object, 'code'), '410');
      assert.equal(fieldText(event?.object, 'reason'), 'Expired');
      assert.match(fieldText(event?.object, 'message'), /^too old resource version: \d+ \(\d+\)$/);
    });

    test('a resourceVersion that is none is refused at once', async () => {
      await using rig = await furnished(open);
      assert.equal((await rig.call('GET', `${widgets}?watch=true&resourceVersion=abc`)).status, 500);
    });

    test('ends when its reader goes', async () => {
      await using rig = await furnished(open);
      const stop = new AbortController();
      const events = await rig.watch(`${widgets}?watch=true`, stop.signal);
      const reading = take(events, 1).catch(() => []);
      stop.abort();
      assert.deepEqual(await reading, []);
    });
  });
}

test('in process a slow watcher is told that its place is lost, and others are not held up', async () => {
  const [{ open } = { open: undefined }] = doors;
  assert.ok(open);
  await using rig = await furnished(open, { store: { watchCapacity: 3 } });
  const slow = await rig.watch(`${widgets}?watch=true`);
  const quick = await rig.watch(`${widgets}?watch=true`);
  for (let count = 1; count <= 6; count++) {
    await rig.call('POST', widgets, { body: aWidget(`w${count}`) });
    assert.deepEqual(briefly(await take(quick, 1)), [`ADDED w${count}`]);
  }
  const seen = await take(slow, 10);
  assert.deepEqual(
    seen.map(({ type }) => type),
    ['ADDED', 'ADDED', 'ADDED', 'ERROR'],
  );
});

test('in process objects are handed over as they are, frozen', async () => {
  const [{ open } = { open: undefined }] = doors;
  assert.ok(open);
  await using rig = await furnished(open);
  const { object: made } = await rig.call('POST', widgets, { body: aWidget('a') });
  const { object: read } = await rig.call('GET', `${widgets}/a`);
  const [event] = await take(await rig.watch(`${widgets}?watch=true`), 1);
  assert.equal(read, made);
  assert.equal(event?.object, made);
  assert.throws(() => Object.assign(made.metadata, { name: 'b' }), TypeError);
});
