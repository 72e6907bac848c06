import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, podNameAnnotation, sandboxes } from '@hutch/api';
import { silentLog } from '@hutch/base';
import { pods, statusFault } from '@hutch/kube-meta';
import { aPod } from '@hutch/testing';
import { aSandbox, now, ownedPod, readyPod, stranger, suspended } from './fixtures.test.ts';
import { sandboxReconciler } from './reconcile.ts';
import { Scene } from './scene.test.ts';

test('a cold start takes three writes: the pod, that it is there, that it is ready', async () => {
  const scene = new Scene(aSandbox());
  assert.deepEqual((await scene.pass()).writes, ['create pods/box', 'patch sandboxes/status/box']);
  assert.equal(scene.reading('Ready'), 'False/DependenciesNotReady');

  scene.podBecomes({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] });
  const scheduled = await scene.freshPass();
  assert.deepEqual(scheduled, { writes: [], requeueAfterMs: 2000 });

  scene.podBecomes(readyPod);
  assert.deepEqual((await scene.freshPass()).writes, ['patch sandboxes/status/box']);
  assert.equal(scene.reading('Ready'), 'True/DependenciesReady');
  assert.equal(scene.reading('PodScheduled'), 'True/PodScheduled');
  assert.deepEqual(scene.sandbox.status?.podIPs, ['10.0.0.7', 'fd00::7']);
  assert.deepEqual(scene.events, ['SandboxPodCreated', 'SandboxReady']);
  assert.deepEqual(await scene.freshPass(), { writes: [] });
});

test('a start that takes long is told step by step after a while', async () => {
  const scene = new Scene(aSandbox());
  await scene.pass();
  scene.podBecomes({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] });
  scene.now = new Date(now.getTime() + 2000);
  assert.deepEqual((await scene.freshPass()).writes, ['patch sandboxes/status/box']);
  assert.equal(scene.reading('PodScheduled'), 'True/PodScheduled');
});

test('passes on caches that have not heard of our writes repeat none of them', async () => {
  const scene = new Scene(aSandbox());
  await scene.pass();
  assert.deepEqual((await scene.pass()).writes, []); // both caches late
  scene.sandboxCache.catchUp();
  assert.deepEqual((await scene.pass()).writes, []); // the pod cache late
  assert.equal(scene.reading('Ready'), 'False/DependenciesNotReady');
});

test('a pod cache that runs ahead of the sandbox cache leads to one status, not two', async () => {
  const scene = new Scene(aSandbox());
  await scene.pass();
  scene.podBecomes(readyPod);
  scene.podCache.catchUp();
  assert.deepEqual((await scene.pass()).writes, ['patch sandboxes/status/box']);
  assert.deepEqual((await scene.pass()).writes, []);
  assert.equal(scene.reading('Ready'), 'True/DependenciesReady');
});

test('a new process with late caches finds the pod of the old one (SB-60)', async () => {
  const scene = new Scene(aSandbox());
  scene.api.put(pods, ownedPod({ status: readyPod }, scene.sandbox)); // made by a process that died then
  assert.deepEqual((await scene.pass()).writes, ['create pods/box', 'patch sandboxes/status/box']);
  assert.equal(scene.reading('Ready'), 'True/DependenciesReady');
});

test('a status computed from an older sandbox is not written', async () => {
  const scene = new Scene(aSandbox());
  scene.edit({ shutdownPolicy: 'Delete' }); // not in the cache yet
  await scene.pass();
  assert.equal(scene.reading('Ready'), undefined);
  await scene.freshPass();
  assert.equal(findCondition(scene.sandbox.status?.conditions, 'Ready')?.observedGeneration, 2);
});

test('an expiry that was just called off deletes nothing', async () => {
  const scene = new Scene(aSandbox({ spec: { shutdownTime: '2030-01-01T00:09:00Z' } }), [ownedPod()]);
  scene.edit({ shutdownTime: '2031-01-01T00:00:00Z' });
  assert.deepEqual((await scene.pass()).writes, ['patch sandboxes/status/box']); // refused
  assert.equal(scene.pod.metadata.deletionTimestamp, undefined);
});

test('suspend deletes the pod, resume makes a new one (SB-99, SB-107)', async () => {
  const scene = new Scene(aSandbox(), [ownedPod({ status: readyPod })]);
  await scene.pass();
  scene.edit({ operatingMode: 'Suspended' });
  assert.deepEqual((await scene.freshPass()).writes, ['delete pods/box', 'patch sandboxes/status/box']);
  assert.equal(scene.reading('Suspended'), 'False/PodTerminating');
  assert.deepEqual(await scene.freshPass(), { writes: [] });

  scene.api.remove(pods, { namespace: 'default', name: 'box' });
  await scene.freshPass();
  assert.equal(scene.reading('Suspended'), 'True/PodTerminated');
  assert.equal(scene.reading('PodScheduled'), undefined);
  assert.equal(scene.sandbox.status?.podIPs, undefined);
  assert.deepEqual(await scene.freshPass(), { writes: [] });

  scene.edit({ operatingMode: 'Running' });
  assert.deepEqual((await scene.freshPass()).writes, ['create pods/box', 'patch sandboxes/status/box']);
  assert.equal(scene.reading('Suspended'), 'False/NotSuspended');
  assert.deepEqual(scene.events, ['SandboxReady', 'SandboxSuspended', 'SandboxPodCreated']);
});

test('a pod that was gone before we could delete it is no error', async () => {
  const scene = new Scene(suspended(), [ownedPod()]);
  scene.api.remove(pods, { namespace: 'default', name: 'box' });
  await scene.pass();
  assert.equal(scene.reading('Suspended'), 'True/PodTerminated');
});

test('suspension is not confirmed while a pod is there that the cache does not show (SB-103, T12)', async () => {
  const scene = new Scene(suspended());
  scene.api.put(pods, aPod({ metadata: { name: 'box', ownerReferences: [stranger] } }));
  assert.equal((await scene.pass()).requeueAfterMs, 10_000);
  assert.equal(scene.reading('Suspended'), 'False/PodNotOwned');
});

test('a pod deleted by hand comes back under the sandbox’s name (SB-124, T25)', async () => {
  const old = ownedPod({ metadata: { name: 'warm-1' }, status: readyPod });
  const scene = new Scene(aSandbox(), [old]);
  await scene.pass();
  assert.equal(scene.sandbox.metadata.annotations?.[podNameAnnotation], 'warm-1');
  scene.api.remove(pods, { namespace: 'default', name: 'warm-1' });
  assert.deepEqual((await scene.freshPass()).writes, [
    'create pods/box',
    'patch sandboxes/box',
    'patch sandboxes/status/box',
  ]);
  assert.equal(scene.sandbox.metadata.annotations?.[podNameAnnotation], undefined);
  assert.equal(scene.reading('Ready'), 'False/DependenciesNotReady');
});

test('an adopted pod is ours at once (SB-65, T4)', async () => {
  const labels = { 'agents.x-k8s.io/adoptable': 'true' };
  const scene = new Scene(aSandbox(), [aPod({ metadata: { name: 'box', labels }, status: readyPod })]);
  assert.deepEqual((await scene.pass()).writes, ['patch pods/box', 'patch sandboxes/status/box']);
  assert.equal(scene.pod.metadata.ownerReferences?.[0]?.uid, scene.sandbox.metadata.uid);
  assert.equal(scene.reading('Ready'), 'True/DependenciesReady');
});

test('an adoption that lost a race is tried again, without a word in the status', async () => {
  const labels = { 'agents.x-k8s.io/adoptable': 'true' };
  const scene = new Scene(aSandbox(), [aPod({ metadata: { name: 'box', labels }, status: readyPod })]);
  scene.podBecomes({ phase: 'Running' }); // not in the cache yet
  assert.deepEqual(await scene.pass(), { writes: ['patch pods/box'], requeueAfterMs: 100 });
  assert.equal(scene.sandbox.status, undefined);
});

test('a pod of others under our name is reported, not touched, and looked at again (SB-64)', async () => {
  const scene = new Scene(aSandbox());
  scene.api.put(pods, aPod({ metadata: { name: 'box', ownerReferences: [stranger] } })); // no label: not cached
  const { writes, requeueAfterMs } = await scene.pass();
  assert.deepEqual(writes, ['create pods/box', 'patch sandboxes/status/box']);
  assert.equal(requeueAfterMs, 10_000);
  assert.equal(scene.reading('Ready'), 'False/ReconcilerError');
  assert.deepEqual((await scene.freshPass()).writes, []);
});

test('expiry: told, torn down, then silent (SB-110, SB-111, SB-116)', async () => {
  const scene = new Scene(aSandbox(), [ownedPod({ status: readyPod })]);
  await scene.pass();
  scene.edit({ shutdownTime: '2030-01-01T00:10:00Z' });
  assert.deepEqual((await scene.freshPass()).writes, ['patch sandboxes/status/box', 'delete pods/box']);
  assert.equal(scene.reading('Ready'), 'False/SandboxExpired');
  assert.deepEqual(Object.keys(scene.sandbox.status ?? {}), ['conditions']);
  assert.deepEqual(await scene.freshPass(), { writes: [] });
  scene.api.remove(pods, { namespace: 'default', name: 'box' });
  assert.deepEqual(await scene.freshPass(), { writes: [] });
  assert.deepEqual(scene.events, ['SandboxReady', 'SandboxExpired']);

  scene.edit({ shutdownTime: '2031-01-01T00:00:00Z' }); // revived (SB-117)
  assert.deepEqual((await scene.freshPass()).writes, ['create pods/box', 'patch sandboxes/status/box']);
});

test('expiry with policy Delete removes the sandbox, even when the pod’s delete fails (SB-112)', async () => {
  const spec = { shutdownTime: '2030-01-01T00:10:00Z', shutdownPolicy: 'Delete' } as const;
  const scene = new Scene(aSandbox({ spec }), [ownedPod()]);
  scene.api.failure = (call) => (call === 'delete pods/box' ? statusFault('internal', 'no') : undefined);
  await assert.rejects(scene.pass(), /delete pod default\/box: no/);
  assert.equal(scene.api.find(sandboxes, 'box'), undefined);
  assert.deepEqual(await scene.freshPass(), { writes: [] });
});

test('a create that fails is told once and retried by the queue (SB-61, SB-148)', async () => {
  const scene = new Scene(aSandbox());
  scene.api.failure = (call) =>
    call === 'create pods/box' ? statusFault('unavailable', 'not now') : undefined;
  await assert.rejects(scene.pass(), { code: 'unavailable' });
  assert.equal(scene.reading('Ready'), 'False/ReconcilerError');
  assert.match(
    findCondition(scene.sandbox.status?.conditions, 'Ready')?.message ?? '',
    /^Error seen: create pod for sandbox default\/box: not now$/,
  );
  scene.catchUp();
  await assert.rejects(scene.pass());
  assert.deepEqual(scene.events, ['SandboxPodCreateFailed']);

  scene.api.failure = () => undefined;
  await scene.freshPass();
  assert.equal(scene.reading('Ready'), 'False/DependenciesNotReady');
});

test('a pod that the server finds invalid is told and not retried, until the sandbox is edited', async () => {
  const scene = new Scene(aSandbox());
  scene.api.failure = (call) =>
    call === 'create pods/box' ? statusFault('invalid', 'Pod "box" is invalid') : undefined;
  assert.equal((await scene.pass()).requeueAfterMs, undefined);
  assert.equal(scene.reading('Ready'), 'False/InvalidConfiguration');
  scene.api.failure = () => undefined;
  scene.edit({});
  await scene.freshPass();
  assert.equal(scene.reading('Ready'), 'False/DependenciesNotReady');
});

test('a pod that cannot be read is not taken for gone (SB-104, T22)', async () => {
  const scene = new Scene(aSandbox(), [ownedPod({ status: readyPod })]);
  await scene.pass();
  scene.api.remove(pods, { namespace: 'default', name: 'box' });
  scene.edit({ operatingMode: 'Suspended' });
  scene.api.failure = (call) => (call === 'get pods/box' ? statusFault('internal', 'broken') : undefined);
  scene.catchUp();
  await assert.rejects(scene.pass(), /broken/);
  assert.equal(scene.reading('Suspended'), 'Unknown/PodStateUnknown');
  assert.equal(scene.reading('Ready'), 'False/ReconcilerError');
});

test('several pods: nothing is touched, one event, and one of them gone heals it (SB-120, SB-121)', async () => {
  const second = ownedPod({ metadata: { name: 'box-2', uid: 'uid-2' }, status: readyPod });
  const scene = new Scene(aSandbox(), [ownedPod({ status: readyPod }), second]);
  assert.deepEqual((await scene.pass()).writes, ['patch sandboxes/status/box']);
  assert.equal(scene.reading('Ready'), 'False/MultiplePods');
  assert.deepEqual(await scene.freshPass(), { writes: [] });
  assert.deepEqual(scene.events, ['MultiplePods']);
  scene.api.remove(pods, { namespace: 'default', name: 'box-2' });
  await scene.freshPass();
  assert.equal(scene.reading('Ready'), 'True/DependenciesReady');
});

test('an aborted pass ends with the reason and writes no status', async () => {
  const scene = new Scene(aSandbox());
  const stop = new AbortController();
  const reason = new Error('shutting down');
  scene.api.failure = (call) => {
    if (call !== 'create pods/box') return undefined;
    stop.abort(reason);
    throw reason;
  };
  const reconcile = sandboxReconciler({
    client: scene.api,
    sandboxes: scene.sandboxCache,
    pods: scene.podCache,
    recorder: { record: () => {} },
    clock: { now: () => now },
  });
  const key = { namespace: 'default', name: 'box' };
  await assert.rejects(reconcile(key, { signal: stop.signal, log: silentLog }), (err) => err === reason);
  assert.equal(scene.sandbox.status, undefined);
});
