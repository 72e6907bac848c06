/** What becomes of an object whose owners are gone or going. No await, no clock, no client. */
import { isTerminating, type KubeObject, type OwnerReference } from '@hutch/kube-meta';
import { hasFinalizer } from './finalizers.ts';

/** Kubernetes' own names: the API server puts them on an object that is deleted with that policy. */
export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/**
 * `waiting`: the owner is being deleted in the foreground and stays until its dependants are gone.
 * `unknown`: nobody can tell, because the kind is not served or the reference makes no sense.
 */
export type OwnerState = 'present' | 'absent' | 'waiting' | 'unknown';

export type Verdict =
  | { readonly type: 'keep' }
  | {
      readonly type: 'delete';
      readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan';
      /** Its references must stop blocking first: it and its owners would wait for each other for ever. */
      readonly breaksCycle?: true;
    }
  /** It has another owner: only the references that hold it no longer are dropped. */
  | { readonly type: 'release'; readonly ownerReferences: readonly OwnerReference[] };

export interface Dependant {
  readonly object: KubeObject;
  readonly stateOf: (owner: OwnerReference) => OwnerState;
  /** What hangs on this object in turn. */
  readonly dependants: readonly KubeObject[];
}

export function decide({ object, stateOf, dependants }: Dependant): Verdict {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || isTerminating(object)) return { type: 'keep' };

  const states = owners.map(stateOf);
  if (states.includes('unknown')) return { type: 'keep' };
  const present = owners.filter((_, index) => states[index] === 'present');
  if (present.length === owners.length) return { type: 'keep' };
  if (present.length > 0) return { type: 'release', ownerReferences: present };

  // Whoever waits for this object waits for what hangs on it too.
  if (states.includes('waiting') && dependants.length > 0) {
    const isInCycle = dependants.some(isWaitingForDependants);
    return { type: 'delete', propagationPolicy: 'Foreground', ...(isInCycle ? { breaksCycle: true } : {}) };
  }
  return { type: 'delete', propagationPolicy: ownPolicy(object) };
}

/** Somebody may have said beforehand how it is to go, by giving it the finalizer. */
function ownPolicy(object: KubeObject): 'Background' | 'Foreground' | 'Orphan' {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan';
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background';
}

export function isWaitingForDependants(object: KubeObject): boolean {
  return isTerminating(object) && hasFinalizer(object, foregroundFinalizer);
}

/** True when this dependant keeps an owner that is deleted in the foreground from going. */
export function isBlocking(dependant: KubeObject, ownerUid: string): boolean {
  const owners = dependant.metadata.ownerReferences ?? [];
  return owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true);
}
