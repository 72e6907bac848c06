import { pause } from '@hutch/base';
import {
  customResourceDefinitions,
  type KubeObject,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  type Resource,
} from '@hutch/kube-meta';
import { area } from './case.ts';
import { ownedBy, type Scene } from './scene.ts';

type Spec = Omit<PodDisruptionBudget['spec'], 'selector'>;
type Status = NonNullable<PodDisruptionBudget['status']>;

const labels = { app: 'web' };

async function makeBudget(scene: Scene, spec: Spec): Promise<void> {
  const body = { spec: { selector: { matchLabels: labels }, ...spec } };
  await scene.make<PodDisruptionBudget>(podDisruptionBudgets, 'budget', body);
}

async function makePods(scene: Scene, pods: Record<string, boolean>, owner?: KubeObject): Promise<void> {
  const ownerReferences = owner ? [ownedBy(owner, { controller: true })] : [];
  let number = 1;
  for (const [name, ready] of Object.entries(pods)) {
    await scene.makeRunningPod(name, {
      metadata: { labels, ownerReferences },
      ip: `10.2.0.${number++}`,
      ready,
    });
  }
}

async function settled(scene: Scene, isWanted: (status: Status) => boolean) {
  const budget = await scene.until<PodDisruptionBudget>(
    podDisruptionBudgets,
    'budget',
    (found) => found?.status?.conditions !== undefined && isWanted(found.status),
  );
  const { conditions = [], ...status } = budget?.status ?? {};
  return { ...status, conditions: conditions.map(({ lastTransitionTime: _, ...condition }) => condition) };
}

/**
 * A real controller learns of new kinds every half minute and does not come back to a budget that met one before; so
 * the budget is touched until the kind is known. The one wait here that no event could end.
 */
async function untilKindKnown(scene: Scene): Promise<void> {
  for (let touched = 0; ; touched++) {
    const { conditions } = await settled(scene, () => true);
    if (!conditions[0]?.message?.startsWith('no matches for kind')) return;
    await pause(1_000, scene.signal);
    await scene.patch(podDisruptionBudgets, 'budget', {
      metadata: { annotations: { touched: `${touched}` } },
    });
  }
}

/** A kind of the scene's own that has a scale, or has none. */
async function makeOwner(scene: Scene, given: { replicas: number; scales: boolean }): Promise<KubeObject> {
  const group = `${scene.namespace}.example.test`;
  const integer = { type: 'integer' };
  const properties = {
    spec: { type: 'object', properties: { replicas: integer } },
    status: { type: 'object', properties: { replicas: integer } },
  };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties } },
    ...(given.scales ? { subresources: { status: {}, scale } } : {}),
  };
  const names = { plural: 'sets', singular: 'set', kind: 'Set', listKind: 'SetList' };
  await scene.client.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `sets.${group}` },
    spec: { group, names, scope: 'Namespaced', versions: [version] },
  } as never);
  const sets: Resource = { group, version: 'v1', plural: 'sets', kind: 'Set', namespaced: true };
  await scene.untilAll(sets, () => true);
  return await scene.make(sets, 'set', { spec: { replicas: given.replicas } });
}

export const disruption = area('disruption budgets', (add) => {
  add('without pods nothing may be disrupted', async (scene) => {
    await makeBudget(scene, { minAvailable: 1 });
    return await settled(scene, () => true);
  });

  add('a number that must stay', async (scene) => {
    await makeBudget(scene, { minAvailable: 1 });
    await makePods(scene, { a: true, b: true, c: false });
    return await settled(
      scene,
      ({ currentHealthy, expectedPods }) => currentHealthy === 2 && expectedPods === 3,
    );
  });

  add('fewer than must stay', async (scene) => {
    await makeBudget(scene, { minAvailable: 3 });
    await makePods(scene, { a: true });
    return await settled(scene, ({ currentHealthy }) => currentHealthy === 1);
  });

  add('a number of what may go, of pods nobody manages', async (scene) => {
    await makePods(scene, { a: true, b: true });
    await makeBudget(scene, { maxUnavailable: 1 });
    return await settled(scene, ({ currentHealthy }) => currentHealthy === 2);
  });

  add('a share that must stay, of what their owner means to have', async (scene) => {
    const owner = await makeOwner(scene, { replicas: 3, scales: true });
    await makePods(scene, { a: true, b: true, c: true }, owner);
    await makeBudget(scene, { minAvailable: '50%' });
    await untilKindKnown(scene);
    return await settled(scene, ({ currentHealthy }) => currentHealthy === 3);
  });

  add('a share of what may go', async (scene) => {
    const owner = await makeOwner(scene, { replicas: 3, scales: true });
    await makePods(scene, { a: true, b: true, c: true }, owner);
    await makeBudget(scene, { maxUnavailable: '34%' });
    await untilKindKnown(scene);
    return await settled(scene, ({ currentHealthy }) => currentHealthy === 3);
  });

  add('an owner that has no scale', async (scene) => {
    const owner = await makeOwner(scene, { replicas: 3, scales: false });
    await makePods(scene, { a: true }, owner);
    await makeBudget(scene, { maxUnavailable: 1 });
    await untilKindKnown(scene);
    return await settled(scene, ({ conditions }) => conditions?.[0]?.reason === 'SyncFailed');
  });

  add('a pod that is gone is no longer counted', async (scene) => {
    await makeBudget(scene, { minAvailable: 1 });
    await makePods(scene, { a: true, b: true });
    await settled(scene, ({ disruptionsAllowed }) => disruptionsAllowed === 1);
    await scene.endPod('a');
    return await settled(scene, ({ expectedPods }) => expectedPods === 1);
  });

  add('a budget that changes is counted anew', async (scene) => {
    await makeBudget(scene, { minAvailable: 2 });
    await makePods(scene, { a: true, b: true });
    await settled(scene, ({ currentHealthy }) => currentHealthy === 2);
    await scene.patch(podDisruptionBudgets, 'budget', { spec: { minAvailable: 1 } });
    return await settled(scene, ({ observedGeneration }) => observedGeneration === 2);
  });
});
