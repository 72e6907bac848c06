/** What becomes of a volume. No await, no clock, no client. */
import { isTerminating, type PersistentVolume, type PersistentVolumeClaim } from '@hutch/kube-meta';
import { boundByController, hasMark, provisionedBy } from './match.ts';

/** On volumes the home's own provisioner made: they stay until what is behind them is removed. */
export const reclaimFinalizer = 'kubernetes.io/pv-controller';

export interface ObservedVolume {
  readonly volume: PersistentVolume;
  /** The claim it is bound to, if that very claim still exists. */
  readonly claim: PersistentVolumeClaim | undefined;
  /** What marks volumes of the home's own provisioner, if it has one. */
  readonly provisioner: string | undefined;
}

type Phase = 'Available' | 'Bound' | 'Released';

export type VolumeAction =
  | { readonly type: 'write-phase'; readonly phase: Phase }
  | { readonly type: 'fail'; readonly reason: string; readonly message: string }
  /** Takes back a bond that never came about. */
  | { readonly type: 'unbind' }
  /** Removes what is behind it, and the volume itself. */
  | { readonly type: 'reclaim' }
  | { readonly type: 'let-go' };

export function decideVolume({ volume, claim, provisioner }: ObservedVolume): readonly VolumeAction[] {
  const { claimRef } = volume.spec;
  const isOwn = provisioner !== undefined && volume.metadata.annotations?.[provisionedBy] === provisioner;
  if (!claimRef) return isTerminating(volume) ? goingUnused(volume, isOwn) : phase(volume, 'Available');
  if (!claimRef.uid) return phase(volume, 'Available'); // reserved; the claim takes it when it comes
  if (!claim) return released(volume, isOwn);
  if (!claim.spec.volumeName) return []; // the claim is about to follow
  if (claim.spec.volumeName === volume.metadata.name) return phase(volume, 'Bound');

  // The claim went elsewhere. What was made for it alone is of no use to anybody.
  const isMadeForIt = hasMark(volume, provisionedBy);
  if (isMadeForIt && volume.spec.persistentVolumeReclaimPolicy === 'Delete') return released(volume, isOwn);
  return [{ type: 'unbind' }];
}

/** A phase that tells of a failure stays visible while we go on trying. */
function released(volume: PersistentVolume, isOwn: boolean): readonly VolumeAction[] {
  const told = volume.status?.phase === 'Failed' ? [] : phase(volume, 'Released');
  switch (volume.spec.persistentVolumeReclaimPolicy ?? 'Retain') {
    case 'Delete':
      if (isOwn) return [...told, { type: 'reclaim' }];
      // Somebody else made it, and somebody else removes it. One that nobody made cannot be removed.
      return hasMark(volume, provisionedBy) || volume.spec.csi ? told : failed(volume, 'delete');
    case 'Recycle':
      return failed(volume, 'recycle');
    case 'Retain':
      return isTerminating(volume) ? [...told, { type: 'let-go' }] : told;
  }
}

/** Deleted by a person before any claim took it. */
function goingUnused(volume: PersistentVolume, isOwn: boolean): readonly VolumeAction[] {
  if (!volume.metadata.finalizers?.includes(reclaimFinalizer)) return [];
  const isDelete = volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  return [{ type: isOwn && isDelete ? 'reclaim' : 'let-go' }];
}

function failed(volume: PersistentVolume, what: 'delete' | 'recycle'): readonly VolumeAction[] {
  const message = `nothing in this home can ${what} a volume of this kind`;
  const reason = what === 'delete' ? 'VolumeFailedDelete' : 'VolumeFailedRecycle';
  return volume.status?.phase === 'Failed' ? [] : [{ type: 'fail', reason, message }];
}

function phase({ status }: PersistentVolume, wanted: Phase): readonly VolumeAction[] {
  return status?.phase === wanted ? [] : [{ type: 'write-phase', phase: wanted }];
}

/** A merge patch: what the controller reserved is freed, what a person reserved stays so, for whom it may come. */
export function unbinding(volume: PersistentVolume): unknown {
  const { resourceVersion } = volume.metadata;
  return hasMark(volume, boundByController)
    ? { metadata: { resourceVersion, annotations: { [boundByController]: null } }, spec: { claimRef: null } }
    : { metadata: { resourceVersion }, spec: { claimRef: { uid: null } } };
}
