/** Whether the claims of a pod have their volumes, and what it takes that they get them. No await, no client. */
import {
  isTerminating,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type StorageClass,
} from '@hutch/kube-meta';
import type { NodeMeta } from '../node-selector.ts';
import { claimNamesOf } from '../pods.ts';
import {
  bestMatch,
  classNameOf,
  hasMark,
  isBoundTo,
  isFullyBound,
  isOnNode,
  selectedNode,
  waitsForConsumer,
} from '../volumes/match.ts';

export interface ObservedClaims {
  readonly pod: Pod;
  readonly node: NodeMeta;
  readonly claimOf: (name: string) => PersistentVolumeClaim | undefined;
  readonly volumes: readonly PersistentVolume[];
  readonly storageClassOf: (name: string) => StorageClass | undefined;
}

export type ClaimStep =
  | { readonly type: 'reserve'; readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }
  /** Whoever makes volumes of the claim's class may now begin. */
  | { readonly type: 'select-node'; readonly claim: PersistentVolumeClaim };

export type ClaimsVerdict =
  | { readonly type: 'ready' }
  /** Nothing can be said for any node. */
  | { readonly type: 'unready'; readonly reason: string }
  | { readonly type: 'misfit'; readonly reason: string }
  /** All steps are taken when there are none left: then the claims' own events bring the pod back. */
  | { readonly type: 'binding'; readonly steps: readonly ClaimStep[] };

export function judgeClaims(observed: ObservedClaims): ClaimsVerdict {
  const { pod, node, claimOf, storageClassOf } = observed;
  const waiting: PersistentVolumeClaim[] = [];
  for (const name of claimNamesOf(pod)) {
    const claim = claimOf(name);
    if (!claim) return unready(`persistentvolumeclaim "${name}" not found`);
    if (isTerminating(claim)) return unready(`persistentvolumeclaim "${name}" is being deleted`);
    if (claim.status?.phase === 'Lost') {
      const volume = claim.spec.volumeName ?? '';
      return unready(`persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${volume}"`);
    }
    if (isFullyBound(claim)) {
      const reason = boundMisfit(claim, observed);
      if (reason) return { type: 'misfit', reason };
    } else if (claim.spec.volumeName || !waitsForConsumer(storageClassOf(classNameOf(claim)))) {
      return unready('pod has unbound immediate PersistentVolumeClaims');
    } else {
      waiting.push(claim);
    }
  }
  return waiting.length === 0 ? { type: 'ready' } : bindingSteps(waiting, { ...observed, node });
}

function boundMisfit({ spec }: PersistentVolumeClaim, { volumes, node }: ObservedClaims): string | undefined {
  const volume = volumes.find(({ metadata }) => metadata.name === spec.volumeName);
  if (!volume) return 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
  return isOnNode(volume, node) ? undefined : "node(s) didn't match PersistentVolume's node affinity";
}

function bindingSteps(
  waiting: readonly PersistentVolumeClaim[],
  { volumes, node, storageClassOf }: ObservedClaims,
): ClaimsVerdict {
  const steps: ClaimStep[] = [];
  const left = new Set(volumes); // no volume for two claims of one pod
  for (const claim of waiting) {
    const volume = bestMatch(claim, [...left], { onlyReserved: false, node });
    if (volume) {
      left.delete(volume);
      if (!isBoundTo(volume, claim)) steps.push({ type: 'reserve', volume, claim });
    } else if (!canBeMade(storageClassOf(classNameOf(claim)))) {
      return { type: 'misfit', reason: "node(s) didn't find available persistent volumes to bind" };
    } else if (!hasMark(claim, selectedNode)) {
      steps.push({ type: 'select-node', claim });
    }
  }
  return { type: 'binding', steps };
}

function canBeMade(storageClass: StorageClass | undefined): boolean {
  return storageClass !== undefined && storageClass.provisioner !== 'kubernetes.io/no-provisioner';
}

function unready(reason: string): ClaimsVerdict {
  return { type: 'unready', reason };
}
