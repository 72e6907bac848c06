/** Volumes and claims stay while they are in use, although they were told to go. No await, no clock, no client. */
import { isTerminating, type KubeObject } from '@hutch/kube-meta';

export const claimProtection = 'kubernetes.io/pvc-protection';
export const volumeProtection = 'kubernetes.io/pv-protection';

/** A merge patch that adds or removes the finalizer; undefined when it is as it should be. */
export function protectionPatch(
  object: KubeObject,
  finalizer: string,
  isUsed: boolean,
): { readonly type: 'add' | 'remove'; readonly patch: unknown } | undefined {
  const { finalizers = [], resourceVersion } = object.metadata;
  const isProtected = finalizers.includes(finalizer);
  if (!isTerminating(object) && !isProtected) {
    return { type: 'add', patch: { metadata: { resourceVersion, finalizers: [...finalizers, finalizer] } } };
  }
  if (isTerminating(object) && isProtected && !isUsed) {
    const others = finalizers.filter((name) => name !== finalizer);
    return { type: 'remove', patch: { metadata: { resourceVersion, finalizers: others } } };
  }
  return undefined;
}
