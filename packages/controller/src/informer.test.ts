import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pods, statusFault } from '@hutch/kube-meta';
import { aPod } from '@hutch/testing';
import { createInformer, type InformerOptions } from './informer.ts';
import { errorEvent, event, ScriptedServer } from './scripted-server.ts';

const pod = (name: string, resourceVersion: string, rest: Partial<Pod['metadata']> = {}) =>
  aPod({ metadata: { name, resourceVersion, ...rest } });

async function started(server: ScriptedServer, options: Partial<InformerOptions<Pod>> = {}) {
  const stop = new AbortController();
  const informer = createInformer<Pod>({ client: server.client, resource: pods, ...options });
  const changes: string[] = [];
  informer.onChange(({ type, object, previous }) => {
    assert.equal(informer.get(object.metadata), type === 'deleted' ? undefined : object, 'the copy shows it');
    const versions = [previous?.metadata.resourceVersion, object.metadata.resourceVersion].filter(Boolean);
    changes.push(`${type} ${object.metadata.name} ${versions.join('>')}`);
  });
  const running = informer.run(stop.signal);
  await informer.synced;
  return {
    informer,
    changes,
    /** Resolves when the copy shows this version of the object. */
    seen: (name: string, resourceVersion: string) =>
      informer.waitFor(
        { namespace: 'default', name },
        (object) => object?.metadata.resourceVersion === resourceVersion,
        stop.signal,
      ),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

test('it shows what was listed, then every change', async () => {
  const server = new ScriptedServer().thenList('5', pod('a', '3'));
  const watch = server.thenWatch();
  await using run = await started(server);
  assert.deepEqual(run.changes, ['added a 3']);
  watch.push(event('MODIFIED', pod('a', '6')));
  watch.push(event('ADDED', pod('b', '7')));
  watch.push(event('DELETED', pod('a', '8')));
  watch.push(event('ADDED', pod('c', '9')));
  await run.seen('c', '9');
  assert.deepEqual(run.changes, ['added a 3', 'modified a 3>6', 'added b 7', 'deleted a 6>8', 'added c 9']);
  assert.deepEqual(
    run.informer.list().map(({ metadata }) => metadata.name),
    ['b', 'c'],
  );
});

test('a new list is told as what it changed, and nothing else', async () => {
  const server = new ScriptedServer().thenList('5', pod('a', '1'), pod('b', '2'), pod('c', '3'));
  server.thenWatch(event('ADDED', pod('d', '6')), errorEvent(statusFault('expired', 'too old')));
  server.thenList('50', pod('b', '2'), pod('c', '40'), pod('e', '41'));
  server.thenWatch();
  await using run = await started(server);
  await run.seen('e', '41');
  assert.deepEqual(run.changes.slice(3), [
    'added d 6',
    'deleted a 1>1',
    'deleted d 6>6',
    'modified c 3>40',
    'added e 41',
  ]);
});

test('a namesake is another object: deleted, then added', async () => {
  const server = new ScriptedServer().thenList('5', pod('a', '1', { uid: 'first' }));
  server.thenWatch(errorEvent(statusFault('expired', 'too old')));
  server.thenList('50', pod('a', '40', { uid: 'second' }));
  server.thenWatch();
  await using run = await started(server, { clock: { now: () => new Date(), sleep: async () => {} } });
  await run.seen('a', '40');
  assert.deepEqual(run.changes, ['added a 1', 'deleted a 1>1', 'added a 40']);
});

test('objects are found by namespace and by index, and lost from both', async () => {
  const owned = (name: string, version: string, uid: string) =>
    pod(name, version, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid }] });
  const server = new ScriptedServer().thenList('5', owned('a', '1', 'x'), owned('b', '2', 'x'));
  const watch = server.thenWatch();
  await using run = await started(server, {
    indexes: { owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid) },
  });
  const names = (found: readonly Pod[]) => found.map(({ metadata }) => metadata.name);
  assert.deepEqual(names(run.informer.byIndex('owner', 'x')), ['a', 'b']);
  assert.deepEqual(names(run.informer.list('default')), ['a', 'b']);
  assert.deepEqual(names(run.informer.list('other')), []);
  watch.push(event('MODIFIED', owned('a', '6', 'y')));
  watch.push(event('DELETED', owned('b', '7', 'x')));
  watch.push(event('ADDED', pod('c', '8', { namespace: 'other' })));
  await run.informer.waitFor({ namespace: 'other', name: 'c' }, Boolean, AbortSignal.timeout(5000));
  assert.deepEqual(names(run.informer.byIndex('owner', 'x')), []);
  assert.deepEqual(names(run.informer.byIndex('owner', 'y')), ['a']);
  assert.deepEqual(names(run.informer.list('default')), ['a']);
  assert.deepEqual(names(run.informer.list('other')), ['c']);
  assert.throws(() => run.informer.byIndex('nonsense', 'x'), /no index named nonsense/);
});

test('what is not needed is dropped before it is kept', async () => {
  const server = new ScriptedServer().thenList('5', pod('a', '1', { managedFields: [{}] }));
  server.thenWatch();
  const transform = ({ metadata: { managedFields: _, ...metadata }, ...object }: Pod): Pod => ({
    ...object,
    metadata,
  });
  await using run = await started(server, { transform });
  assert.equal(run.informer.list()[0]?.metadata.managedFields, undefined);
});

test('a listener that has left hears nothing', async () => {
  const server = new ScriptedServer().thenList('5');
  const watch = server.thenWatch();
  await using run = await started(server);
  const leave = run.informer.onChange(() => assert.fail('still listening'));
  leave();
  watch.push(event('ADDED', pod('a', '6')));
  await run.seen('a', '6');
});

test('waiting for a write ends with the event, with the deletion, or with the signal', async () => {
  const server = new ScriptedServer().thenList('5', pod('a', '1'));
  const watch = server.thenWatch();
  await using run = await started(server);
  const key = { namespace: 'default', name: 'a' };
  const { signal } = new AbortController();

  const there = await run.informer.waitFor(key, Boolean, signal);
  assert.equal(there?.metadata.name, 'a', 'what is already so is not waited for');

  const gone = run.informer.waitFor(key, (object) => !object, signal);
  watch.push(event('MODIFIED', pod('a', '6')));
  watch.push(event('DELETED', pod('a', '7')));
  assert.equal(await gone, undefined);

  const stop = new AbortController();
  const never = run.informer.waitFor(key, Boolean, stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(never, { message: 'enough' });
});

test('a refusal ends it and everyone who waits for it', async () => {
  const server = new ScriptedServer().thenFail(statusFault('forbidden', 'you may not'));
  const informer = createInformer({ client: server.client, resource: pods });
  await assert.rejects(informer.run(new AbortController().signal), { code: 'forbidden' });
  await assert.rejects(informer.synced, { code: 'forbidden' });
});

test('stopping before the first list ends those who wait for it', async () => {
  const informer = createInformer({ client: new ScriptedServer().client, resource: pods });
  await informer.run(AbortSignal.abort(new Error('enough')));
  await assert.rejects(informer.synced, { message: 'enough' });
});
