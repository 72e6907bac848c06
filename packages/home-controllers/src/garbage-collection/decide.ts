/** What becomes of an object whose owners are gone or going. No await, no clock, no client. */
import { isTerminating, type KubeObject, type OwnerReference } from '@hutch/kube-meta';
import { hasFinalizer } from './finalizers.ts';

/** Kubernetes' own names: the API server puts them on an object that is deleted with that policy. */
export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** `waiting`: the owner is being deleted in the foreground and stays until its dependants are gone. */
export type OwnerState = 'present' | 'absent' | 'waiting';

export type Verdict =
  | { readonly type: 'keep' }
  | { readonly type: 'delete'; readonly propagationPolicy: 'Background' | 'Foreground' }
  /** It has another owner: only the references that hold it no longer are dropped. */
  | { readonly type: 'release'; readonly ownerReferences: readonly OwnerReference[] };

export interface Dependant {
  readonly object: KubeObject;
  readonly stateOf: (owner: OwnerReference) => OwnerState;
  /** Others hang on this object in turn. */
  readonly isOwner: boolean;
}

export function decide({ object, stateOf, isOwner }: Dependant): Verdict {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || isTerminating(object)) return { type: 'keep' };

  const present = owners.filter((owner) => stateOf(owner) === 'present');
  if (present.length === owners.length) return { type: 'keep' };
  if (present.length > 0) return { type: 'release', ownerReferences: present };

  // Whoever waits for this object waits for what hangs on it too.
  const isWaitedFor = owners.some((owner) => stateOf(owner) === 'waiting');
  return { type: 'delete', propagationPolicy: isWaitedFor && isOwner ? 'Foreground' : 'Background' };
}

export function isWaitingForDependants(object: KubeObject): boolean {
  return isTerminating(object) && hasFinalizer(object, foregroundFinalizer);
}

/** True when this dependant keeps an owner that is deleted in the foreground from going. */
export function isBlocking(dependant: KubeObject, ownerUid: string): boolean {
  const owners = dependant.metadata.ownerReferences ?? [];
  return owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true);
}
