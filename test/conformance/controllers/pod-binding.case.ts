import { isTerminating, type Pod, persistentVolumeClaims, pods } from '@hutch/kube-meta';
import { area } from './case.ts';
import type { Scene } from './scene.ts';

const untilPlaced = (scene: Scene, name: string) =>
  scene.until<Pod>(pods, name, (found) => found?.spec.nodeName !== undefined);

const untilRefused = (scene: Scene, name: string) =>
  scene.until<Pod>(pods, name, (found) => placing(found)?.reason === 'Unschedulable');

const placing = (pod: Pod | undefined) =>
  pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');

/** Times aside. */
function shapeOf(pod: Pod | undefined) {
  const { status, reason, message } = placing(pod) ?? {};
  return { nodeName: pod?.spec.nodeName, phase: pod?.status?.phase, placing: { status, reason, message } };
}

/** Another pod is placed meanwhile: whoever places pods has had its chance. */
async function afterOthers(scene: Scene): Promise<void> {
  await scene.makePod('canary');
  await untilPlaced(scene, 'canary');
}

export const podBinding = area('pod binding', (add) => {
  add('a pod gets a node, and that is told', async (scene) => {
    await scene.makePod('pod');
    const pod = await untilPlaced(scene, 'pod');
    return { pod: shapeOf(pod), told: await scene.untilTold(pods, 'pod', 'Scheduled') };
  });

  add('a pod that asks for what the node has gets it', async (scene) => {
    await scene.makePod('pod', { spec: { nodeSelector: { disk: 'ssd' } } });
    return shapeOf(await untilPlaced(scene, 'pod'));
  });

  add('a pod that asks for another node is told so', async (scene) => {
    await scene.makePod('pod', { spec: { nodeSelector: { disk: 'hdd' } } });
    const pod = await untilRefused(scene, 'pod');
    return { pod: shapeOf(pod), told: await scene.untilTold(pods, 'pod', 'FailedScheduling') };
  });

  add('affinity is a way of asking, too', async (scene) => {
    const affinity = (operator: 'In' | 'NotIn') => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator, values: ['ssd'] }] }],
        },
      },
    });
    await scene.makePod('in', { spec: { affinity: affinity('In') } });
    await scene.makePod('out', { spec: { affinity: affinity('NotIn') } });
    return [shapeOf(await untilPlaced(scene, 'in')), shapeOf(await untilRefused(scene, 'out'))];
  });

  add('a pod of another scheduler is left to it', async (scene) => {
    await scene.makePod('pod', { spec: { schedulerName: 'somebody-else' } });
    await afterOthers(scene);
    return shapeOf(await scene.get<Pod>(pods, 'pod'));
  });

  add('a gated pod waits until nobody holds it back', async (scene) => {
    await scene.makePod('pod', { spec: { schedulingGates: [{ name: 'example.test/gate' }] } });
    await afterOthers(scene);
    const gated = shapeOf(await scene.get<Pod>(pods, 'pod'));
    await scene.patch(pods, 'pod', { spec: { schedulingGates: null } });
    return [gated, shapeOf(await untilPlaced(scene, 'pod'))];
  });

  add('a pod that is deleted before it has a node is gone', async (scene) => {
    await scene.makePod('pod', { spec: { schedulingGates: [{ name: 'example.test/gate' }] } });
    await scene.delete(pods, 'pod');
    await scene.untilGone(pods, 'pod');
    return 'gone';
  });

  add('a pod that is going gets no node', async (scene) => {
    const gate = { schedulingGates: [{ name: 'example.test/gate' }] };
    await scene.makePod('pod', { metadata: { finalizers: ['example.test/hold'] }, spec: gate });
    await scene.delete(pods, 'pod');
    await scene.patch(pods, 'pod', { spec: { schedulingGates: null } });
    await afterOthers(scene);
    const pod = await scene.get<Pod>(pods, 'pod');
    return { nodeName: pod.spec.nodeName, isTerminating: isTerminating(pod) };
  });

  add('a pod waits for a claim that is not there', async (scene) => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'late' } }];
    await scene.makePod('pod', { spec: { volumes } });
    const missing = shapeOf(await untilRefused(scene, 'pod'));
    await scene.make(persistentVolumeClaims, 'late', {
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: scene.own('none'),
      },
    });
    const unbound = await scene.until<Pod>(
      pods,
      'pod',
      (found) => placing(found)?.message !== missing.placing.message,
    );
    return [missing, shapeOf(unbound)];
  });
});
