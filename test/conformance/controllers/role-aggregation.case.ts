import { type ClusterRole, clusterRoles, type PolicyRule } from '@hutch/kube-meta';
import { area } from './case.ts';
import type { Scene } from './scene.ts';

const rule = (resource: string): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });

/** Roles are outside namespaces: a label of the scene's own keeps its sums apart. */
const part = (scene: Scene, ...resources: string[]) => ({
  metadata: { labels: { [`example.test/${scene.namespace}`]: 'yes' } },
  rules: resources.map(rule),
});

async function makeSum(scene: Scene): Promise<void> {
  const clusterRoleSelectors = [{ matchLabels: { [`example.test/${scene.namespace}`]: 'yes' } }];
  await scene.make<ClusterRole>(clusterRoles, 'sum', {
    aggregationRule: { clusterRoleSelectors },
    rules: [],
  });
}

const settled = (scene: Scene, count: number) =>
  scene
    .until<ClusterRole>(clusterRoles, 'sum', (found) => (found?.rules ?? []).length === count)
    .then((role) => role?.rules ?? []);

export const roleAggregation = area('role aggregation', (add) => {
  add('a sum has the rules of its parts, each once, by name', async (scene) => {
    await scene.make(clusterRoles, 'b', part(scene, 'nodes', 'pods'));
    await scene.make(clusterRoles, 'a', part(scene, 'pods', 'secrets'));
    await makeSum(scene);
    return await settled(scene, 3);
  });

  add('a sum follows its parts as they come, change and go', async (scene) => {
    await makeSum(scene);
    await scene.make(clusterRoles, 'a', part(scene, 'pods'));
    const one = await settled(scene, 1);
    await scene.patch(clusterRoles, 'a', { rules: [rule('pods'), rule('events')] });
    const two = await settled(scene, 2);
    await scene.delete(clusterRoles, 'a');
    return { one, two, none: await settled(scene, 0) };
  });

  add('rules written into a sum by hand do not last', async (scene) => {
    await scene.make(clusterRoles, 'a', part(scene, 'pods'));
    await makeSum(scene);
    await settled(scene, 1);
    await scene.patch(clusterRoles, 'sum', { rules: [rule('x'), rule('y')] });
    return await settled(scene, 1);
  });
});
