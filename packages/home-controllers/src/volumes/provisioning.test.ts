/** Volumes that the home makes itself, on the real API server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type Draft,
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
import { key, openHome } from '../test-home.ts';
import type { VolumeProvisioner } from './provisioner.ts';

const provisionerName = 'example.test/disk';

/** Keeps its volumes in a set, and fails as often as it is told. */
class MemoryDisk implements VolumeProvisioner {
  readonly name = provisionerName;
  readonly volumes = new Set<string>();
  failures = 0;

  async provision({ name }: Parameters<VolumeProvisioner['provision']>[0]) {
    this.#failMaybe();
    this.volumes.add(name);
    return { hostPath: { path: `/volumes/${name}` } };
  }

  async remove({ metadata }: PersistentVolume) {
    this.#failMaybe();
    this.volumes.delete(metadata.name);
  }

  #failMaybe(): void {
    if (this.failures-- > 0) throw new Error('disk is busy');
  }
}

function classDraft(given: Partial<StorageClass> = {}): Draft<StorageClass> {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const metadata = { name: 'disk', annotations };
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    provisioner: provisionerName,
    ...given,
    metadata,
  };
}

const claimDraft: Draft<PersistentVolumeClaim> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: key('data'),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

const podDraft: Draft<Pod> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: key('pod'),
  spec: {
    containers: [{ name: 'main', image: 'example.test/image' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
};

async function openDiskHome(t: TestContext, given: Partial<StorageClass> = {}) {
  const disk = new MemoryDisk();
  const home = await openHome(t, { provisioner: disk });
  home.start();
  await home.client.create<StorageClass>(storageClasses, classDraft(given));
  const untilBound = async () => {
    const isBound = (claim: PersistentVolumeClaim | undefined) => claim?.status?.phase === 'Bound';
    const claim = await home.until<PersistentVolumeClaim>(persistentVolumeClaims, key('data'), isBound);
    const name = claim?.spec.volumeName ?? '';
    await home.until(persistentVolumes, { name }, (volume) => volume !== undefined);
    return claim;
  };
  return { ...home, disk, untilBound };
}

test('a claim of the default class gets a volume, and gives it back with all that was in it', async (t) => {
  await using home = await openDiskHome(t);
  await home.client.create<PersistentVolumeClaim>(persistentVolumeClaims, claimDraft);
  const claim = await home.untilBound();
  const name = claim?.spec.volumeName ?? '';
  assert.deepEqual([...home.disk.volumes], [name]);
  const volume = await home.client.get<PersistentVolume>(persistentVolumes, { name });
  assert.equal(volume.spec.hostPath?.path, `/volumes/${name}`);
  assert.equal(volume.spec.persistentVolumeReclaimPolicy, 'Delete');
  assert.deepEqual(claim?.status?.capacity, { storage: '1Gi' });

  await home.client.delete(persistentVolumeClaims, key('data'));
  await home.untilGone(persistentVolumes, { name });
  assert.equal(home.disk.volumes.size, 0);
});

test('a class that retains keeps volume and data', async (t) => {
  await using home = await openDiskHome(t, { reclaimPolicy: 'Retain' });
  await home.client.create<PersistentVolumeClaim>(persistentVolumeClaims, claimDraft);
  const name = (await home.untilBound())?.spec.volumeName ?? '';
  await home.client.delete(persistentVolumeClaims, key('data'));
  const isReleased = (volume: PersistentVolume | undefined) => volume?.status?.phase === 'Released';
  await home.until<PersistentVolume>(persistentVolumes, { name }, isReleased);
  assert.equal(home.disk.volumes.size, 1);
  await home.client.delete(persistentVolumes, { name });
  await home.untilGone(persistentVolumes, { name });
  assert.equal(home.disk.volumes.size, 1, 'whoever retains them looks after them');
});

test('a volume that waits for its pod is made when the pod has a node, and the pod starts after it', async (t) => {
  await using home = await openDiskHome(t, { volumeBindingMode: 'WaitForFirstConsumer' });
  await home.client.create<PersistentVolumeClaim>(persistentVolumeClaims, claimDraft);
  await home.createPod(podDraft);
  await home.until<Pod>(pods, key('pod'), (pod) => pod?.spec.nodeName !== undefined);
  const claim = await home.client.get<PersistentVolumeClaim>(persistentVolumeClaims, key('data'));
  assert.equal(claim.status?.phase, 'Bound');
  assert.equal(claim.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'this-machine');
});

test('a disk that fails is tried again, to make and to remove', async (t) => {
  await using home = await openDiskHome(t);
  home.disk.failures = 2;
  await home.client.create<PersistentVolumeClaim>(persistentVolumeClaims, claimDraft);
  const name = (await home.untilBound())?.spec.volumeName ?? '';
  home.disk.failures = 2;
  await home.client.delete(persistentVolumeClaims, key('data'));
  await home.untilGone(persistentVolumes, { name });
  assert.equal(home.disk.volumes.size, 0);
});

test('a volume that is deleted before its claim takes its data with it in the end', async (t) => {
  await using home = await openDiskHome(t);
  await home.client.create<PersistentVolumeClaim>(persistentVolumeClaims, claimDraft);
  const name = (await home.untilBound())?.spec.volumeName ?? '';
  await home.client.delete(persistentVolumes, { name });
  const held = await home.client.get(persistentVolumes, { name });
  assert.ok(isTerminating(held), 'it waits for its claim');
  await home.client.delete(persistentVolumeClaims, key('data'));
  await home.untilGone(persistentVolumes, { name });
  assert.equal(home.disk.volumes.size, 0);
});
