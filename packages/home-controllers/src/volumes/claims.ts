/**
 * Gets every claim its volume, and keeps claims that pods use from going.
 *
 * Wakes: by the claim, by volumes it may get or has, by storage classes, and by the pods that use it.
 */
import { type Clock, Fault, ignoring, type Log, messageOf, unreachable } from '@hutch/base';
import type { Change, EventRecorder, Informer, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  type Draft,
  keyOf,
  keyText,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  parseKeyText,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
} from '@hutch/kube-meta';
import type { HomeInformers } from '../home-informers.ts';
import { claimKeysOf, claimNamesOf } from '../pods.ts';
import { itself, runWoken, wakeOn } from '../woken-controller.ts';
import { bind, claimReference } from './binding.ts';
import { type ClaimAction, decideClaim } from './decide-claim.ts';
import { reclaimFinalizer } from './decide-volume.ts';
import { isFullyBound, provisionedBy } from './match.ts';
import { claimProtection, protectionPatch, volumeProtection } from './protection.ts';
import type { VolumeProvisioner } from './provisioner.ts';

export interface ClaimDeps {
  readonly client: KubeClient;
  readonly informers: Pick<HomeInformers, 'claims' | 'volumes' | 'storageClasses' | 'pods'>;
  readonly provisioner: VolumeProvisioner | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

export async function runClaims(deps: ClaimDeps, signal: AbortSignal): Promise<void> {
  const { claims, volumes, storageClasses, pods } = deps.informers;
  const unbound = () => claims.list().filter((claim) => !isFullyBound(claim));
  const wakes = [
    wakeOn(claims, itself),
    wakeOn(volumes, (change) => claimsConcerned(change, claims, unbound)),
    wakeOn(storageClasses, () => unbound().map(keyOf)),
    wakeOn(pods, claimsOfPod),
  ];
  const needs = [claims, volumes, storageClasses, pods];
  const reconcile = claimReconciler(deps);
  await runWoken({ ...deps, name: 'claims', wakes, needs, workers: 4, reconcile }, signal);
}

/** Those it is tied to, from either side; and when it is free, all that still look for one. */
function claimsConcerned(
  { type, object, previous }: Change<PersistentVolume>,
  claims: Informer<PersistentVolumeClaim>,
  unbound: () => readonly PersistentVolumeClaim[],
): readonly ObjectKey[] {
  const { claimRef } = object.spec;
  const named = claimRef?.name ? [{ namespace: claimRef.namespace ?? '', name: claimRef.name }] : [];
  const tied = claims.byIndex('volume', object.metadata.name);
  const isFree = type !== 'deleted' && !claimRef && object.status?.phase === 'Available';
  const wasFree = previous?.status?.phase === 'Available' && !previous.spec.claimRef;
  return [...named, ...tied.map(keyOf), ...(isFree && !wasFree ? unbound().map(keyOf) : [])];
}

/** What a pod does between getting a node and going is of no concern to its claims. */
function claimsOfPod({ type, object, previous }: Change<Pod>): readonly ObjectKey[] {
  const isNews = type !== 'modified' || object.spec.nodeName !== previous?.spec.nodeName;
  return isNews ? claimKeysOf(object).map(parseKeyText) : [];
}

function claimReconciler(deps: ClaimDeps): Reconcile {
  const { client, informers, provisioner } = deps;
  return async (key, { signal }) => {
    const claim = informers.claims.get(key);
    if (!claim) return {};
    const users = informers.pods.byIndex('claim', keyText(key));
    const isUsed = users.some(holdsClaims) || (await isUsedAfterAll(client, claim, signal));
    const protection = protectionPatch(claim, claimProtection, isUsed);
    if (protection) {
      await ignoring('not-found', client.patch(persistentVolumeClaims, key, protection.patch, { signal }));
      return {}; // the change brings us back
    }
    const actions = decideClaim({
      claim,
      volumes: informers.volumes.list(),
      storageClasses: informers.storageClasses.list(),
      waitingPods: users.filter((pod) => !pod.spec.nodeName).map(({ metadata }) => metadata.name),
      provisioner: provisioner?.name,
    });
    for (const action of actions) await apply(deps, claim, { action, signal });
    return {};
  };
}

/** A pod without a node cannot start once its claim is going, so it holds nothing. */
function holdsClaims({ spec }: Pod): boolean {
  return Boolean(spec.nodeName);
}

/** Letting a claim go cannot be undone, so before that the server is asked and not our copy. */
async function isUsedAfterAll(
  client: KubeClient,
  { metadata }: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<boolean> {
  if (metadata.deletionTimestamp === undefined || !metadata.finalizers?.includes(claimProtection))
    return false;
  const { items } = await client.list<Pod>(pods, { namespace: metadata.namespace, signal });
  return items.some((pod) => holdsClaims(pod) && claimNamesOf(pod).includes(metadata.name));
}

interface Applying {
  readonly action: ClaimAction;
  readonly signal: AbortSignal;
}

async function apply(
  deps: ClaimDeps,
  claim: PersistentVolumeClaim,
  { action, signal }: Applying,
): Promise<void> {
  const { client, events } = deps;
  const { resourceVersion } = claim.metadata;
  switch (action.type) {
    case 'bind':
      return await bind(client, { volume: action.volume, claim }, signal);
    case 'assign-class': {
      const patch = { metadata: { resourceVersion }, spec: { storageClassName: action.className } };
      await client.patch(persistentVolumeClaims, keyOf(claim), patch, { signal });
      return;
    }
    case 'provision':
      return await provision(deps, claim, { storageClass: action.storageClass, signal });
    case 'call-provisioner': {
      const annotations = provisionerMarks(action.provisioner);
      const isCalled = Object.keys(annotations).every((mark) => claim.metadata.annotations?.[mark]);
      if (isCalled) return;
      const patch = { metadata: { resourceVersion, annotations } };
      await client.patch(persistentVolumeClaims, keyOf(claim), patch, { signal });
      return;
    }
    case 'write-phase': {
      const status = { phase: action.phase, accessModes: null, capacity: null };
      const patch = { metadata: { resourceVersion }, status };
      await client.patch(persistentVolumeClaims, keyOf(claim), patch, { subresource: 'status', signal });
      return;
    }
    case 'tell':
      events.record(claim, action.note);
      return;
    default:
      return unreachable(action);
  }
}

/** What provisioners outside look for, the older name too. */
function provisionerMarks(provisioner: string): Record<string, string> {
  return {
    'volume.kubernetes.io/storage-provisioner': provisioner,
    'volume.beta.kubernetes.io/storage-provisioner': provisioner,
  };
}

/** Makes the volume; it is bound when its event comes. A failure is told and tried again with back-off. */
async function provision(
  { client, provisioner, events }: ClaimDeps,
  claim: PersistentVolumeClaim,
  { storageClass, signal }: { storageClass: StorageClass; signal: AbortSignal },
): Promise<void> {
  if (!provisioner) return;
  const name = `pvc-${claim.metadata.uid}`;
  const className = storageClass.metadata.name;
  try {
    const made = await provisioner.provision({ name, claim, storageClass }, signal);
    const draft = desiredVolume(name, { claim, storageClass, made });
    await ignoring('already-exists', client.create<PersistentVolume>(persistentVolumes, draft, { signal }));
  } catch (err) {
    if (signal.aborted) throw err;
    const message = `Failed to provision volume with StorageClass "${className}": ${messageOf(err)}`;
    events.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message });
    throw new Fault('unavailable', `provision volume ${name} for claim ${keyText(keyOf(claim))}`, {
      cause: err,
    });
  }
  const message = `Successfully provisioned volume ${name}`;
  events.record(claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message });
}

interface VolumeParts {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly made: Partial<PersistentVolume['spec']>;
}

function desiredVolume(name: string, { claim, storageClass, made }: VolumeParts): Draft<PersistentVolume> {
  const { accessModes = [], volumeMode = 'Filesystem', resources } = claim.spec;
  const { provisioner, reclaimPolicy = 'Delete', mountOptions } = storageClass;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      annotations: { [provisionedBy]: provisioner },
      finalizers: [volumeProtection, reclaimFinalizer],
    },
    spec: {
      capacity: { storage: resources?.requests?.storage ?? '0' },
      ...made,
      accessModes,
      volumeMode,
      claimRef: claimReference(claim),
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      ...(mountOptions ? { mountOptions: [...mountOptions] } : {}),
    },
  };
}
