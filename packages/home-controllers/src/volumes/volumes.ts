/**
 * The life of volumes: free, bound, given back, and removed where that is what their policy says.
 *
 * Wakes: by the volume, and by the claims it is tied to.
 */
import { type Clock, Fault, ignoring, type Log, messageOf, unreachable } from '@hutch/base';
import type { EventRecorder, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  keyOf,
  keyText,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
} from '@hutch/kube-meta';
import type { HomeInformers } from '../home-informers.ts';
import { itself, runWoken, wakeOn } from '../woken-controller.ts';
import { writeVolumePhase } from './binding.ts';
import { decideVolume, reclaimFinalizer, unbinding, type VolumeAction } from './decide-volume.ts';
import { protectionPatch, volumeProtection } from './protection.ts';
import type { VolumeProvisioner } from './provisioner.ts';

export interface VolumeDeps {
  readonly client: KubeClient;
  readonly informers: Pick<HomeInformers, 'claims' | 'volumes'>;
  readonly provisioner: VolumeProvisioner | undefined;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

export async function runVolumes(deps: VolumeDeps, signal: AbortSignal): Promise<void> {
  const { claims, volumes } = deps.informers;
  const wakes = [
    wakeOn(volumes, itself),
    wakeOn(claims, ({ object }) => [
      ...volumes.byIndex('claim', keyText(keyOf(object))).map(keyOf),
      ...(object.spec.volumeName ? [{ name: object.spec.volumeName }] : []),
    ]),
  ];
  const reconcile = volumeReconciler(deps);
  await runWoken(
    { ...deps, name: 'volumes', wakes, needs: [claims, volumes], workers: 4, reconcile },
    signal,
  );
}

function volumeReconciler(deps: VolumeDeps): Reconcile {
  const { client, informers, provisioner } = deps;
  return async (key, { signal }) => {
    const volume = informers.volumes.get(key);
    if (!volume) return {};
    const protection = protectionPatch(volume, volumeProtection, volume.status?.phase === 'Bound');
    if (protection) {
      await ignoring('not-found', client.patch(persistentVolumes, key, protection.patch, { signal }));
      return {}; // the change brings us back
    }
    const claim = await claimOf(volume, deps, signal);
    const actions = decideVolume({ volume, claim, provisioner: provisioner?.name });
    for (const action of actions) await apply(deps, volume, { action, signal });
    return {};
  };
}

/** A claim our copy does not show may be new. Giving its volume back cannot be undone, so the server is asked. */
async function claimOf(
  { spec: { claimRef }, status }: PersistentVolume,
  { client, informers }: VolumeDeps,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim | undefined> {
  if (!claimRef?.name || !claimRef.uid) return undefined;
  const key: ObjectKey = { namespace: claimRef.namespace ?? '', name: claimRef.name };
  const shown = informers.claims.get(key);
  if (shown?.metadata.uid === claimRef.uid) return shown;
  if (status?.phase === 'Released' || status?.phase === 'Failed') return undefined; // asked before
  const live = await ignoring(
    'not-found',
    client.get<PersistentVolumeClaim>(persistentVolumeClaims, key, { signal }),
  );
  return live?.metadata.uid === claimRef.uid ? live : undefined;
}

interface Applying {
  readonly action: VolumeAction;
  readonly signal: AbortSignal;
}

async function apply(
  deps: VolumeDeps,
  volume: PersistentVolume,
  { action, signal }: Applying,
): Promise<void> {
  const { client, events } = deps;
  const key = keyOf(volume);
  switch (action.type) {
    case 'write-phase':
      await ignoring('not-found', writeVolumePhase(client, volume, action, signal));
      return;
    case 'fail': {
      const { reason, message } = action;
      await ignoring('not-found', writeVolumePhase(client, volume, { phase: 'Failed', message }, signal));
      events.record(volume, { type: 'Warning', reason, message });
      return;
    }
    case 'unbind':
      await ignoring('not-found', client.patch(persistentVolumes, key, unbinding(volume), { signal }));
      return;
    case 'reclaim':
      return await reclaim(deps, volume, signal);
    case 'let-go':
      return await letGo(client, volume, signal);
    default:
      return unreachable(action);
  }
}

/** What is behind it goes first: a volume that is gone could never be found again to be removed. */
async function reclaim(
  { client, provisioner, events }: VolumeDeps,
  volume: PersistentVolume,
  signal: AbortSignal,
): Promise<void> {
  if (!provisioner) return;
  const { name, uid } = volume.metadata;
  try {
    await provisioner.remove(volume, signal);
  } catch (err) {
    if (signal.aborted) throw err;
    const message = messageOf(err);
    events.record(volume, { type: 'Warning', reason: 'VolumeFailedDelete', message });
    const { status } = volume;
    if (status?.phase !== 'Failed' || status.message !== message) {
      await writeVolumePhase(client, volume, { phase: 'Failed', message }, signal);
    }
    throw new Fault('unavailable', `remove what is behind volume ${name}`, { cause: err });
  }
  await ignoring('not-found', client.delete(persistentVolumes, { name }, { uid, signal }));
  await letGo(client, volume, signal);
}

async function letGo(client: KubeClient, { metadata }: PersistentVolume, signal: AbortSignal): Promise<void> {
  const { name } = metadata;
  const live = await ignoring(
    'not-found',
    client.get<PersistentVolume>(persistentVolumes, { name }, { signal }),
  );
  if (live?.metadata.uid !== metadata.uid || !live.metadata.finalizers?.includes(reclaimFinalizer)) return;
  const finalizers = live.metadata.finalizers.filter((finalizer) => finalizer !== reclaimFinalizer);
  const patch = { metadata: { resourceVersion: live.metadata.resourceVersion, finalizers } };
  await ignoring('not-found', client.patch(persistentVolumes, { name }, patch, { signal }));
}
