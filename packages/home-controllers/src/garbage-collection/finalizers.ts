import type { KubeObject } from '@hutch/kube-meta';

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** A merge patch. It replaces the whole list, so it is refused (conflict) when the object has changed. */
export function removingFinalizer({ metadata }: KubeObject, finalizer: string) {
  const finalizers = (metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return { metadata: { resourceVersion: metadata.resourceVersion, finalizers } };
}
