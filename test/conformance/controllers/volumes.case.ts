import {
  isTerminating,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
  storageClasses,
} from '@hutch/kube-meta';
import { area } from './case.ts';
import type { Scene } from './scene.ts';

type VolumeSpec = Partial<PersistentVolume['spec']>;
type ClaimSpec = Partial<PersistentVolumeClaim['spec']>;

/** Volumes are outside namespaces: a class of the scene's own keeps them apart from those of other scenes. */
async function makeVolume(
  scene: Scene,
  name: string,
  spec: VolumeSpec = {},
  labels = {},
): Promise<PersistentVolume> {
  return await scene.make<PersistentVolume>(persistentVolumes, name, {
    metadata: { labels },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: scene.own('class'),
      hostPath: { path: '/nowhere' },
      ...spec,
    },
  });
}

async function makeClaim(scene: Scene, name: string, spec: ClaimSpec = {}): Promise<PersistentVolumeClaim> {
  return await scene.make<PersistentVolumeClaim>(persistentVolumeClaims, name, {
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: scene.own('class'),
      ...spec,
    },
  });
}

async function makeClass(scene: Scene, given: Partial<StorageClass> = {}): Promise<StorageClass> {
  const waits = { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' };
  return await scene.make<StorageClass>(storageClasses, 'class', { ...waits, ...given });
}

const untilAvailable = (scene: Scene, name: string) =>
  scene.until<PersistentVolume>(persistentVolumes, name, (found) => found?.status?.phase === 'Available');
const untilBound = (scene: Scene, name: string) =>
  scene.until<PersistentVolumeClaim>(
    persistentVolumeClaims,
    name,
    (found) => found?.status?.phase === 'Bound',
  );

function claimShape(claim: PersistentVolumeClaim | undefined) {
  const { annotations, finalizers } = claim?.metadata ?? {};
  return { annotations, finalizers, volumeName: claim?.spec.volumeName, status: claim?.status };
}

function volumeShape(volume: PersistentVolume | undefined) {
  const { kind, namespace, name, apiVersion } = volume?.spec.claimRef ?? {};
  return {
    annotations: volume?.metadata.annotations,
    finalizers: volume?.metadata.finalizers,
    claimRef: { kind, namespace, name, apiVersion },
    phase: volume?.status?.phase,
    reason: volume?.status?.reason,
  };
}

const using = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }];

export const volumes = area('volumes', (add) => {
  add('a claim and a volume that fit find each other', async (scene) => {
    await makeVolume(scene, 'only', { capacity: { storage: '2Gi' } });
    await untilAvailable(scene, 'only');
    await makeClaim(scene, 'claim');
    const claim = await untilBound(scene, 'claim');
    const volume = await scene.until<PersistentVolume>(
      persistentVolumes,
      'only',
      (found) => found?.status?.phase === 'Bound',
    );
    return { claim: claimShape(claim), volume: volumeShape(volume) };
  });

  add('the tightest fit is taken', async (scene) => {
    await makeVolume(scene, 'huge', { capacity: { storage: '9Gi' } });
    await makeVolume(scene, 'right', { capacity: { storage: '3Gi' } });
    await makeVolume(scene, 'small', { capacity: { storage: '1Gi' } });
    await makeVolume(scene, 'many', {
      capacity: { storage: '2Gi' },
      accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
    });
    await makeVolume(scene, 'other', { capacity: { storage: '2Gi' }, storageClassName: scene.own('else') });
    await makeVolume(scene, 'block', { capacity: { storage: '2Gi' }, volumeMode: 'Block' });
    for (const name of ['huge', 'right', 'small', 'many', 'other', 'block'])
      await untilAvailable(scene, name);
    await makeClaim(scene, 'claim', { resources: { requests: { storage: '2Gi' } } });
    return (await untilBound(scene, 'claim'))?.spec.volumeName;
  });

  add('a selector is heeded', async (scene) => {
    await makeVolume(scene, 'plain');
    await makeVolume(scene, 'chosen', { capacity: { storage: '5Gi' } }, { disk: 'ssd' });
    for (const name of ['plain', 'chosen']) await untilAvailable(scene, name);
    await makeClaim(scene, 'claim', { selector: { matchLabels: { disk: 'ssd' } } });
    return (await untilBound(scene, 'claim'))?.spec.volumeName;
  });

  add('a volume can be asked for by name', async (scene) => {
    await makeVolume(scene, 'small');
    await makeVolume(scene, 'named', { capacity: { storage: '5Gi' } });
    for (const name of ['small', 'named']) await untilAvailable(scene, name);
    await makeClaim(scene, 'claim', { volumeName: scene.own('named') });
    return claimShape(await untilBound(scene, 'claim'));
  });

  add('a volume by name that does not suit is refused', async (scene) => {
    await makeVolume(scene, 'named', { capacity: { storage: '1Mi' } });
    await untilAvailable(scene, 'named');
    await makeClaim(scene, 'claim', { volumeName: scene.own('named') });
    const told = await scene.untilTold(persistentVolumeClaims, 'claim', 'VolumeMismatch');
    return { told, claim: claimShape(await scene.get(persistentVolumeClaims, 'claim')) };
  });

  add('a volume can be reserved for a claim that is to come', async (scene) => {
    const claimRef = { namespace: scene.namespace, name: 'claim' };
    await makeVolume(scene, 'tight');
    await makeVolume(scene, 'reserved', { capacity: { storage: '5Gi' }, claimRef });
    for (const name of ['tight', 'reserved']) await untilAvailable(scene, name);
    await makeClaim(scene, 'claim');
    const claim = await untilBound(scene, 'claim');
    const volume = await scene.until<PersistentVolume>(
      persistentVolumes,
      'reserved',
      (found) => found?.status?.phase === 'Bound',
    );
    return { claim: claimShape(claim), volume: volumeShape(volume) };
  });

  add('a claim without a class and without a volume says so', async (scene) => {
    await makeClaim(scene, 'claim', {
      storageClassName: '',
      selector: { matchLabels: { none: scene.namespace } },
    });
    return await scene.untilTold(persistentVolumeClaims, 'claim', 'FailedBinding');
  });

  add('a claim of a class that is not there says so', async (scene) => {
    await makeClaim(scene, 'claim');
    return await scene.untilTold(persistentVolumeClaims, 'claim', 'ProvisioningFailed');
  });

  add('a class of nobody at once cannot make a volume', async (scene) => {
    await makeClass(scene, { volumeBindingMode: 'Immediate' });
    await makeClaim(scene, 'claim');
    return await scene.untilTold(persistentVolumeClaims, 'claim', 'ProvisioningFailed');
  });

  add('a provisioner outside is called', async (scene) => {
    await makeClass(scene, { provisioner: 'example.test/maker', volumeBindingMode: 'Immediate' });
    await makeClaim(scene, 'claim');
    const told = await scene.untilTold(persistentVolumeClaims, 'claim', 'ExternalProvisioning');
    return { told, claim: claimShape(await scene.get(persistentVolumeClaims, 'claim')) };
  });

  add('a claim waits for its pod where its class says so', async (scene) => {
    await makeClass(scene);
    await makeVolume(scene, 'fit');
    await untilAvailable(scene, 'fit');
    await makeClaim(scene, 'claim');
    const told = await scene.untilTold(persistentVolumeClaims, 'claim', 'WaitForFirstConsumer');
    const before = await scene.get<PersistentVolumeClaim>(persistentVolumeClaims, 'claim');
    await scene.makePod('pod', { spec: { volumes: using('claim') } });
    await scene.until<Pod>(pods, 'pod', (found) => found?.spec.nodeName !== undefined);
    const after = await untilBound(scene, 'claim');
    return { told, before: claimShape(before), after: claimShape(after) };
  });

  add('a volume out of reach of the node is not taken for its pod', async (scene) => {
    await makeClass(scene);
    const onDisk = (disk: string) => ({
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: [disk] }] },
          ],
        },
      },
    });
    await makeVolume(scene, 'far', onDisk('hdd'));
    await untilAvailable(scene, 'far');
    await makeClaim(scene, 'claim');
    await scene.makePod('pod', { spec: { volumes: using('claim') } });
    const told = await scene.untilTold(pods, 'pod', 'FailedScheduling');
    await makeVolume(scene, 'near', { ...onDisk('ssd'), capacity: { storage: '5Gi' } });
    const claim = await untilBound(scene, 'claim');
    await scene.until<Pod>(pods, 'pod', (found) => found?.spec.nodeName !== undefined);
    return { told, volumeName: claim?.spec.volumeName };
  });

  add('a volume yet to be made is made for the node of the pod', async (scene) => {
    await makeClass(scene, { provisioner: 'example.test/maker' });
    await makeClaim(scene, 'claim');
    await scene.makePod('pod', { spec: { volumes: using('claim') } });
    const claim = await scene.until<PersistentVolumeClaim>(
      persistentVolumeClaims,
      'claim',
      (found) => found?.metadata.annotations?.['volume.kubernetes.io/storage-provisioner'] !== undefined,
    );
    // What such a provisioner does.
    await makeVolume(scene, 'made', {
      claimRef: {
        kind: 'PersistentVolumeClaim',
        namespace: scene.namespace,
        name: 'claim',
        uid: claim?.metadata.uid ?? '',
      },
    });
    const bound = await untilBound(scene, 'claim');
    await scene.until<Pod>(pods, 'pod', (found) => found?.spec.nodeName !== undefined);
    return { asked: claimShape(claim), bound: bound?.spec.volumeName };
  });

  add('a retained volume is given back with its data', async (scene) => {
    await makeVolume(scene, 'kept', { persistentVolumeReclaimPolicy: 'Retain' });
    await untilAvailable(scene, 'kept');
    await makeClaim(scene, 'claim');
    await untilBound(scene, 'claim');
    await scene.delete(persistentVolumeClaims, 'claim');
    await scene.untilGone(persistentVolumeClaims, 'claim');
    const released = await scene.until<PersistentVolume>(
      persistentVolumes,
      'kept',
      (found) => found?.status?.phase === 'Released',
    );
    return volumeShape(released);
  });

  add('a volume somebody else must delete is only given back', async (scene) => {
    const csi = { driver: 'example.test', volumeHandle: 'x' };
    const { hostPath: _, ...spec } = {
      hostPath: undefined,
      csi,
      persistentVolumeReclaimPolicy: 'Delete' as const,
    };
    await scene.make<PersistentVolume>(persistentVolumes, 'made', {
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'example.test/maker' } },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: scene.own('class'),
        ...spec,
      },
    });
    await untilAvailable(scene, 'made');
    await makeClaim(scene, 'claim');
    await untilBound(scene, 'claim');
    await scene.delete(persistentVolumeClaims, 'claim');
    const released = await scene.until<PersistentVolume>(
      persistentVolumes,
      'made',
      (found) => found?.status?.phase === 'Released',
    );
    return volumeShape(released);
  });

  add('a claim that a pod uses stays until the pod is gone', async (scene) => {
    await makeVolume(scene, 'used');
    await untilAvailable(scene, 'used');
    await makeClaim(scene, 'claim');
    await untilBound(scene, 'claim');
    await scene.makePod('pod', { spec: { volumes: using('claim') } });
    await scene.until<Pod>(pods, 'pod', (found) => found?.spec.nodeName !== undefined);
    await scene.delete(persistentVolumeClaims, 'claim');
    const held = await scene.get<PersistentVolumeClaim>(persistentVolumeClaims, 'claim');
    await scene.endPod('pod');
    await scene.untilGone(persistentVolumeClaims, 'claim');
    return {
      isTerminating: isTerminating(held),
      finalizers: held.metadata.finalizers,
      phase: held.status?.phase,
    };
  });

  add('a pod does not get a claim that is going', async (scene) => {
    await makeVolume(scene, 'used');
    await untilAvailable(scene, 'used');
    await makeClaim(scene, 'claim');
    await untilBound(scene, 'claim');
    await scene.makePod('first', { spec: { volumes: using('claim') } });
    await scene.until<Pod>(pods, 'first', (found) => found?.spec.nodeName !== undefined);
    await scene.delete(persistentVolumeClaims, 'claim');
    await scene.makePod('second', { spec: { volumes: using('claim') } });
    const told = await scene.untilTold(pods, 'second', 'FailedScheduling');
    await scene.endPod('first');
    await scene.untilGone(persistentVolumeClaims, 'claim');
    return told;
  });

  add('a bound volume stays until its claim is gone', async (scene) => {
    await makeVolume(scene, 'used');
    await untilAvailable(scene, 'used');
    await makeClaim(scene, 'claim');
    await untilBound(scene, 'claim');
    await scene.delete(persistentVolumes, 'used');
    const held = await scene.get<PersistentVolume>(persistentVolumes, 'used');
    await scene.delete(persistentVolumeClaims, 'claim');
    await scene.untilGone(persistentVolumes, 'used');
    return { isTerminating: isTerminating(held), ...volumeShape(held) };
  });

  add('a claim whose volume was torn away is lost', async (scene) => {
    await makeVolume(scene, 'torn');
    await untilAvailable(scene, 'torn');
    await makeClaim(scene, 'claim');
    await untilBound(scene, 'claim');
    await scene.delete(persistentVolumes, 'torn');
    await scene.patch(persistentVolumes, 'torn', { metadata: { finalizers: null } });
    const lost = await scene.until<PersistentVolumeClaim>(
      persistentVolumeClaims,
      'claim',
      (found) => found?.status?.phase === 'Lost',
    );
    const told = await scene.untilTold(persistentVolumeClaims, 'claim', 'ClaimLost');
    return { told, claim: claimShape(lost) };
  });
});
