import {
  type ClusterRole,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  isTerminating,
  type KubeObject,
  namespaces,
  type OwnerReference,
  type Resource,
  secrets,
} from '@hutch/kube-meta';
import { area } from './case.ts';
import { ownedBy, type Scene } from './scene.ts';

const owned = (...ownerReferences: OwnerReference[]) => ({ metadata: { ownerReferences } });
const blocking = (owner: KubeObject) => ownedBy(owner, { blockOwnerDeletion: true });
const ownersOf = (object: KubeObject | undefined) =>
  (object?.metadata.ownerReferences ?? []).map(({ kind, name, blockOwnerDeletion = false }) => [
    kind,
    name,
    blockOwnerDeletion,
  ]);

/** Gives a controller the chance to be wrong: another object with an owner that is gone is dealt with first. */
async function afterOthers(scene: Scene): Promise<void> {
  const gone = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never-there', uid: crypto.randomUUID() };
  await scene.make(secrets, 'canary', owned(gone));
  await scene.untilGone(secrets, 'canary');
}

/** A kind of the scene's own. */
async function makeKind(scene: Scene): Promise<Resource> {
  const group = `${scene.namespace}.example.test`;
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  await scene.client.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  } as never);
  const things: Resource = { group, version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
  await scene.untilAll(things, () => true);
  return things;
}

export const garbageCollection = area('garbage collection', (add) => {
  add('dependants go after their owner, over generations', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    const child = await scene.make(secrets, 'child', owned(ownedBy(owner)));
    await scene.make(configMaps, 'grandchild', owned(ownedBy(child)));
    await scene.delete(configMaps, 'owner', 'Background');
    await scene.untilGone(secrets, 'child');
    await scene.untilGone(configMaps, 'grandchild');
    return 'gone';
  });

  add('with one owner left only the dead reference is dropped', async (scene) => {
    const first = await scene.make(configMaps, 'first');
    const second = await scene.make(configMaps, 'second');
    await scene.make(secrets, 'shared', owned(ownedBy(first), ownedBy(second)));
    await scene.delete(configMaps, 'first');
    return ownersOf(
      await scene.until(secrets, 'shared', (found) => found?.metadata.ownerReferences?.length === 1),
    );
  });

  add('in the foreground the owner waits for those that block it', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    await scene.make(secrets, 'held', {
      metadata: { ownerReferences: [blocking(owner)], finalizers: ['example.test/hold'] },
    });
    await scene.make(secrets, 'free', {
      metadata: { ownerReferences: [ownedBy(owner)], finalizers: ['example.test/hold'] },
    });
    await scene.delete(configMaps, 'owner', 'Foreground');
    const held = await scene.until(secrets, 'held', (found) => found !== undefined && isTerminating(found));
    const free = await scene.until(secrets, 'free', (found) => found !== undefined && isTerminating(found));
    const waiting = await scene.get(configMaps, 'owner');
    await scene.patch(secrets, 'held', { metadata: { finalizers: null } });
    await scene.untilGone(configMaps, 'owner');
    const left = await scene.get(secrets, 'free');
    return {
      held: held?.metadata.finalizers,
      free: free?.metadata.finalizers,
      waiting: [isTerminating(waiting), waiting.metadata.finalizers],
      left: ownersOf(left),
    };
  });

  add('what another owner holds is released and not waited for', async (scene) => {
    const going = await scene.make(configMaps, 'going');
    const staying = await scene.make(configMaps, 'staying');
    await scene.make(secrets, 'shared', owned(blocking(going), blocking(staying)));
    await scene.delete(configMaps, 'going', 'Foreground');
    await scene.untilGone(configMaps, 'going');
    return ownersOf(await scene.get(secrets, 'shared'));
  });

  add('in the foreground dependants of dependants are waited for', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    const child = await scene.make(secrets, 'child', owned(blocking(owner)));
    await scene.make(configMaps, 'grandchild', {
      metadata: { ownerReferences: [blocking(child)], finalizers: ['example.test/hold'] },
    });
    await scene.delete(configMaps, 'owner', 'Foreground');
    await scene.until(configMaps, 'grandchild', (found) => found !== undefined && isTerminating(found));
    const middle = await scene.get(secrets, 'child');
    await scene.patch(configMaps, 'grandchild', { metadata: { finalizers: null } });
    await scene.untilGone(configMaps, 'owner');
    return { middle: [isTerminating(middle), middle.metadata.finalizers] };
  });

  add('owners that wait for each other do not wait for ever', async (scene) => {
    const first = await scene.make(configMaps, 'first');
    const second = await scene.make(configMaps, 'second', owned(blocking(first)));
    await scene.patch(configMaps, 'first', { metadata: { ownerReferences: [blocking(second)] } });
    await scene.delete(configMaps, 'first', 'Foreground');
    await scene.untilGone(configMaps, 'first');
    await scene.untilGone(configMaps, 'second');
    return 'gone';
  });

  add('orphans are set free before their owner goes', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    const other = await scene.make(configMaps, 'other');
    await scene.make(secrets, 'only', owned(ownedBy(owner)));
    await scene.make(secrets, 'shared', owned(ownedBy(owner), ownedBy(other)));
    await scene.delete(configMaps, 'owner', 'Orphan');
    await scene.untilGone(configMaps, 'owner');
    await afterOthers(scene);
    return {
      only: ownersOf(await scene.get(secrets, 'only')),
      shared: ownersOf(await scene.get(secrets, 'shared')),
    };
  });

  add('an orphan finalizer that was there before is honoured', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    const child = await scene.make(secrets, 'child', {
      metadata: { ownerReferences: [ownedBy(owner)], finalizers: ['orphan'] },
    });
    await scene.make(configMaps, 'grandchild', owned(ownedBy(child)));
    await scene.delete(configMaps, 'owner');
    await scene.untilGone(secrets, 'child');
    return ownersOf(await scene.get(configMaps, 'grandchild'));
  });

  add('an owner that never was is an owner that is gone', async (scene) => {
    await afterOthers(scene);
    return 'gone';
  });

  add('a namesake of the owner is another object', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    await scene.make(secrets, 'child', owned({ ...ownedBy(owner), uid: crypto.randomUUID() }));
    await scene.untilGone(secrets, 'child');
    return 'gone';
  });

  add('the right uid with another name is no owner', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    await scene.make(secrets, 'child', owned({ ...ownedBy(owner), name: 'misnamed' }));
    await scene.untilGone(secrets, 'child');
    return 'gone';
  });

  add('an owner in another namespace is no owner, and that is said', async (scene) => {
    const elsewhere = scene.own('elsewhere');
    await scene.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: elsewhere },
    });
    const owner = await scene.make(configMaps, 'owner', { metadata: { namespace: elsewhere } });
    await scene.make(secrets, 'child', owned(ownedBy(owner)));
    await scene.untilGone(secrets, 'child');
    const told = await scene.untilTold(secrets, 'child', 'OwnerRefInvalidNamespace');
    return told.replaceAll(owner.metadata.uid, 'UID');
  });

  add('an owner outside namespaces owns what is inside', async (scene) => {
    const owner = await scene.make<ClusterRole>(clusterRoles, 'owner', { rules: [] });
    await scene.make(secrets, 'child', owned(ownedBy(owner)));
    await afterOthers(scene);
    await scene.get(secrets, 'child');
    await scene.delete(clusterRoles, 'owner');
    await scene.untilGone(secrets, 'child');
    return 'gone';
  });

  add('an owner inside a namespace cannot own what is outside', async (scene) => {
    const owner = await scene.make(configMaps, 'owner');
    const role = { rules: [], ...owned(ownedBy(owner)) };
    await scene.make<ClusterRole>(clusterRoles, 'child', role);
    await scene.delete(configMaps, 'owner');
    await afterOthers(scene);
    return ownersOf(await scene.get(clusterRoles, 'child'));
  });

  add('an owner of a kind nobody serves is believed', async (scene) => {
    const owner = {
      apiVersion: 'nowhere.example.test/v1',
      kind: 'Nothing',
      name: 'x',
      uid: crypto.randomUUID(),
    };
    await scene.make(secrets, 'child', owned(owner));
    await afterOthers(scene);
    return ownersOf(await scene.get(secrets, 'child'));
  });

  add('custom kinds own and are owned', async (scene) => {
    const things = await makeKind(scene);
    const owner = await scene.make(things, 'owner');
    const child = await scene.make(secrets, 'child', owned(ownedBy(owner)));
    await scene.make(things, 'grandchild', owned(ownedBy(child)));
    await scene.delete(things, 'owner');
    await scene.untilGone(secrets, 'child');
    await scene.untilGone(things, 'grandchild');
    return 'gone';
  });

  add('a namespace takes custom kinds with it', async (scene) => {
    const things = await makeKind(scene);
    await scene.make(things, 'thing');
    await scene.make(configMaps, 'map');
    await scene.client.delete(namespaces, { name: scene.namespace });
    await scene.untilGone(configMaps, 'map');
    await scene.untilGone(things, 'thing');
    await scene.untilAll(namespaces, (all) => !all.some(({ metadata }) => metadata.name === scene.namespace));
    return 'gone';
  });

  add('a namespace that cannot go says what holds it', async (scene) => {
    await scene.make(secrets, 'held', { metadata: { finalizers: ['example.test/hold'] } });
    await scene.client.delete(namespaces, { name: scene.namespace });
    interface Going extends KubeObject {
      readonly status?: {
        readonly conditions?: readonly { type: string; status: string; reason: string; message: string }[];
      };
    }
    const find = (all: readonly Going[]) => all.find(({ metadata }) => metadata.name === scene.namespace);
    const all = await scene.untilAll<Going>(
      namespaces,
      (seen) =>
        find(seen)?.status?.conditions?.some(
          ({ message }) => message === 'Some resources are remaining: secrets. has 1 resource instances',
        ) ?? false,
    );
    const told = find(all)?.status?.conditions?.map(({ type, status, reason, message }) => [
      type,
      status,
      reason,
      message,
    ]);
    await scene.patch(secrets, 'held', { metadata: { finalizers: null } });
    await scene.untilAll(
      namespaces,
      (seen) => !seen.some(({ metadata }) => metadata.name === scene.namespace),
    );
    return told;
  });
});
