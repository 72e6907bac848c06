/** The verbs against the real API server, through both of its doors: what is promised is what happens. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Draft, type KubeObject, type Pod, pods, type Secret, secrets } from '@hutch/kube-meta';
import { type HomeDoor, openMemoryHome } from '@hutch/testing';
import type { ClientWatchEvent } from './client.ts';
import { overHttp } from './over-http.ts';
import { createKubeClient } from './verbs.ts';

const key = { namespace: 'default', name: 'a' };

function aSecret(name: string, labels: Record<string, string> = {}): Draft<Secret> {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default', labels },
    data: { answer: 'NDI=' },
  };
}

const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name).sort();

/** The next `count` events that are not bookmarks, as `TYPE name`. */
async function read(watch: AsyncIterable<ClientWatchEvent<Secret>>, count: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of watch) {
    if (event.type === 'BOOKMARK') continue;
    seen.push(`${event.type} ${event.object.metadata.name}`);
    if (seen.length === count) break;
  }
  return seen;
}

for (const door of ['in-process', 'http', 'https'] as const satisfies HomeDoor[]) {
  describe(`the API server through the ${door} door`, () => {
    test('what is created can be read, listed and selected', async () => {
      await using home = await openMemoryHome({ door });
      const created = await home.client.create<Secret>(secrets, aSecret('a', { app: 'x' }));
      await home.client.create<Secret>(secrets, aSecret('b'));
      assert.ok(created.metadata.uid);
      assert.deepEqual(await home.client.get<Secret>(secrets, key), created);
      const all = await home.client.list<Secret>(secrets, { namespace: 'default' });
      assert.deepEqual(namesOf(all.items), ['a', 'b']);
      assert.deepEqual(
        all.items.find(({ metadata }) => metadata.name === 'a'),
        created,
      );
      const some = await home.client.list<Secret>(secrets, { labelSelector: 'app=x' });
      assert.deepEqual(namesOf(some.items), ['a']);
    });

    test('failures are faults with the code Kubernetes means', async () => {
      await using home = await openMemoryHome({ door });
      const { client } = home;
      const created = await client.create<Secret>(secrets, aSecret('a'));
      await assert.rejects(client.get(secrets, { ...key, name: 'none' }), { code: 'not-found' });
      await assert.rejects(client.create<Secret>(secrets, aSecret('a')), { code: 'already-exists' });
      await client.patch(secrets, key, { metadata: { labels: { a: 'b' } } });
      await assert.rejects(client.update(secrets, created), { code: 'conflict' });
      await assert.rejects(client.delete(secrets, key, { uid: 'another' }), { code: 'conflict' });
      await assert.rejects(client.create<Secret>(secrets, aSecret('Not A Name')), { code: 'invalid' });
    });

    test('an update and a merge patch change what they say', async () => {
      await using home = await openMemoryHome({ door });
      const created = await home.client.create<Secret>(secrets, aSecret('a', { one: '1', two: '2' }));
      const updated = await home.client.update(secrets, { ...created, data: { answer: 'NDM=' } });
      assert.equal(updated.data?.answer, 'NDM=');
      const patch = { metadata: { labels: { one: null, three: '3' } } };
      const patched = await home.client.patch<Secret>(secrets, key, patch);
      assert.deepEqual(patched.metadata.labels, { two: '2', three: '3' });
      assert.notEqual(patched.metadata.resourceVersion, created.metadata.resourceVersion);
    });

    test('a pod is bound by its subresource, and its status is written apart', async () => {
      await using home = await openMemoryHome({ door });
      await home.client.create<Pod>(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: key,
        spec: { containers: [{ name: 'main', image: 'example.test/image' }] },
      });
      const target = { apiVersion: 'v1', kind: 'Node', name: 'node' };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: key, target };
      await home.client.create(pods, binding, { subresource: 'binding' });
      const status = { phase: 'Running' };
      await home.client.patch(pods, key, { status }, { subresource: 'status' });
      const pod = await home.client.get<Pod>(pods, key);
      assert.equal(pod.spec.nodeName, 'node');
      assert.equal(pod.status?.phase, 'Running');
    });

    test('a watch shows what happened since a version, then what happens', async () => {
      await using home = await openMemoryHome({ door });
      const { client } = home;
      const { metadata } = await client.list(secrets);
      await client.create<Secret>(secrets, aSecret('a'));
      const reading = read(client.watch<Secret>(secrets, { resourceVersion: metadata.resourceVersion }), 3);
      await client.patch(secrets, key, { metadata: { labels: { a: 'b' } } });
      await client.delete(secrets, key);
      assert.deepEqual(await reading, ['ADDED a', 'MODIFIED a', 'DELETED a']);
    });

    test('an object with finalizers goes when the last of them is taken off', async () => {
      await using home = await openMemoryHome({ door });
      const { client } = home;
      const draft = aSecret('a');
      await client.create<Secret>(secrets, {
        ...draft,
        metadata: { ...draft.metadata, finalizers: ['x.test/f'] },
      });
      await client.delete(secrets, key);
      assert.ok((await client.get(secrets, key)).metadata.deletionTimestamp);
      await client.patch(secrets, key, { metadata: { finalizers: [] } });
      await assert.rejects(client.get(secrets, key), { code: 'not-found' });
    });
  });
}

test('a watch over HTTP ends when the server said it would', async () => {
  await using home = await openMemoryHome({ door: 'http' });
  const { metadata } = await home.client.list(secrets);
  const options = { resourceVersion: metadata.resourceVersion, timeoutSeconds: 1 };
  assert.deepEqual(await read(home.client.watch<Secret>(secrets, options), 1), []);
});

test('a server that its caller has no reason to trust is unavailable', async () => {
  await using home = await openMemoryHome({ door: 'https' });
  await using stranger = overHttp({ url: home.url });
  await assert.rejects(createKubeClient(stranger).list(secrets), { code: 'unavailable' });
});

test('a caller with a wrong token is told so', async () => {
  await using home = await openMemoryHome({ door: 'http' });
  await using stranger = overHttp({ url: home.url, token: 'wrong' });
  await assert.rejects(createKubeClient(stranger).list(secrets), { code: 'unauthorized' });
});
