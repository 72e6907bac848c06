/** The controllers as a whole, on the real API server: the state of the world is what counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Draft,
  isTerminating,
  type KubeObject,
  type Namespace,
  namespaces,
  type OwnerReference,
  type Pod,
  pods,
  type Secret,
  secrets,
} from '@hutch/kube-meta';
import type { HeldNamespace } from './namespaces/namespaces.ts';
import { key, nodeName, openHome } from './test-home.ts';

function secretDraft(
  name: string,
  owners: readonly OwnerReference[] = [],
  namespace = 'default',
): Draft<Secret> {
  const ownerReferences = owners.length > 0 ? { ownerReferences: owners } : {};
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, ...ownerReferences } };
}

function podDraft(name: string, owners: readonly OwnerReference[] = [], namespace = 'default'): Draft<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ownerReferences: owners },
    spec: { containers: [{ name: 'main', image: 'example.test/image' }] },
  };
}

function namespaceDraft(name: string): Draft<Namespace> {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
});

test('a pod is bound to this node and, with a node there, runs', async (t) => {
  await using home = await openHome(t);
  home.start();
  await home.createPod(podDraft('a'));
  await home.until<Pod>(pods, key('a'), (pod) => pod?.spec.nodeName === nodeName);
  home.startNode();
  const isReady = (pod: Pod | undefined) =>
    pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  await home.until<Pod>(pods, key('a'), isReady);
  await home.client.delete(pods, key('a'));
  await home.untilGone(pods, key('a'));
});

test('what an owner held goes with it, across kinds and generations', async (t) => {
  await using home = await openHome(t);
  home.start();
  home.startNode();
  const owner = await home.client.create<Secret>(secrets, secretDraft('owner'));
  const child = await home.createPod(podDraft('child', [ownedBy(owner)]));
  await home.client.create<Secret>(secrets, secretDraft('grandchild', [ownedBy(child)]));
  await home.client.create<Secret>(secrets, secretDraft('bystander'));
  await home.client.delete(secrets, key('owner'));
  await home.untilGone(pods, key('child'));
  await home.untilGone(secrets, key('grandchild'));
  assert.ok(await home.client.get(secrets, key('bystander')));
});

test('what was left behind while nobody watched is found at the start', async (t) => {
  await using home = await openHome(t);
  const gone = await home.client.create<Secret>(secrets, secretDraft('gone'));
  const alive = await home.client.create<Secret>(secrets, secretDraft('alive'));
  await home.client.create<Secret>(secrets, secretDraft('orphaned', [ownedBy(gone)]));
  await home.client.create<Secret>(secrets, secretDraft('held', [ownedBy(alive)]));
  const unknown = { apiVersion: 'example.test/v1', kind: 'Thing', name: 't', uid: 'u' };
  await home.client.create<Secret>(secrets, secretDraft('of-a-kind-nobody-follows', [unknown]));
  await home.client.delete(secrets, key('gone'));
  await home.client.create<Secret>(secrets, secretDraft('gone')); // a namesake is another object
  home.start();
  await home.untilGone(secrets, key('orphaned'));
  assert.ok(await home.client.get(secrets, key('held')));
  assert.ok(await home.client.get(secrets, key('gone')));
  assert.ok(await home.client.get(secrets, key('of-a-kind-nobody-follows')));
});

test('what still has another owner stays and loses only the dead reference', async (t) => {
  await using home = await openHome(t);
  home.start();
  const first = await home.client.create<Secret>(secrets, secretDraft('first'));
  const second = await home.client.create<Secret>(secrets, secretDraft('second'));
  const owners = [ownedBy(first), ownedBy(second)];
  await home.client.create<Secret>(secrets, secretDraft('shared', owners));
  await home.client.delete(secrets, key('first'));
  const shared = await home.until<Secret>(
    secrets,
    key('shared'),
    (object) => object?.metadata.ownerReferences?.length === 1,
  );
  assert.equal(shared?.metadata.ownerReferences?.[0]?.uid, second.metadata.uid);
});

test('an owner deleted in the foreground outlives what blocks it', async (t) => {
  await using home = await openHome(t);
  home.start();
  const owner = await home.client.create<Secret>(secrets, secretDraft('owner'));
  const blocking = { ...ownedBy(owner), blockOwnerDeletion: true };
  await home.createPod(podDraft('child', [blocking]));
  await home.until<Pod>(pods, key('child'), (pod) => pod?.spec.nodeName !== undefined);
  await home.client.delete(secrets, key('owner'), { propagationPolicy: 'Foreground' });
  await home.until<Pod>(pods, key('child'), (pod) => pod !== undefined && isTerminating(pod));
  assert.ok(isTerminating(await home.client.get(secrets, key('owner'))), 'it waits for the pod');
  home.startNode(); // only now the pod can end
  await home.untilGone(secrets, key('owner'));
  await assert.rejects(home.client.get(pods, key('child')), { code: 'not-found' });
});

test('an owner deleted as orphan sets its dependants free', async (t) => {
  await using home = await openHome(t);
  home.start();
  const owner = await home.client.create<Secret>(secrets, secretDraft('owner'));
  await home.client.create<Secret>(secrets, secretDraft('child', [ownedBy(owner)]));
  await home.client.delete(secrets, key('owner'), { propagationPolicy: 'Orphan' });
  await home.untilGone(secrets, key('owner'));
  const child = await home.client.get(secrets, key('child'));
  assert.equal(child.metadata.ownerReferences, undefined);
});

test('a namespace that is deleted is emptied, then goes', async (t) => {
  await using home = await openHome(t);
  home.start();
  await home.client.create<Namespace>(namespaces, namespaceDraft('doomed'));
  await home.createPod(podDraft('p', [], 'doomed'));
  await home.until<Pod>(pods, key('p', 'doomed'), (pod) => pod?.spec.nodeName !== undefined);
  await home.client.create<Secret>(secrets, secretDraft('s', [], 'doomed'));
  await home.client.delete(namespaces, { name: 'doomed' });
  const tellsWhatStays = (namespace: HeldNamespace | undefined) =>
    namespace?.status?.conditions?.some(
      ({ type, status, message = '' }) =>
        type === 'NamespaceContentRemaining' && status === 'True' && /pods\. has 1 resource/.test(message),
    ) ?? false;
  await home.until<HeldNamespace>(namespaces, { name: 'doomed' }, tellsWhatStays);
  assert.ok(
    await home.client.get(secrets, key('s', 'doomed')),
    'what the pod may need stays as long as the pod',
  );
  home.startNode();
  await home.untilGone(namespaces, { name: 'doomed' });
  await assert.rejects(home.client.get(secrets, key('s', 'doomed')), { code: 'not-found' });
});
