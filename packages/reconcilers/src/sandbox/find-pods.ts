/** Where a sandbox's pods are looked for: in the cache, and on the server where the cache's silence proves nothing. */
import { findCondition, podNameOf, type Sandbox, shouldRun } from '@hutch/api';
import { ignoring } from '@hutch/base';
import type { Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { keyOf, type ObjectKey, type Pod, pods as podResource } from '@hutch/kube-meta';

/** The index a cache of pods must have: pods by the uid of their controller. */
export const controllerIndex = 'controller';

export interface PodSources {
  readonly client: KubeClient;
  readonly pods: Pick<Informer<Pod>, 'get' | 'byIndex'>;
}

/** Every pod the sandbox controls, and whichever has the name its pod would have. */
export async function findPods(
  sandbox: Sandbox,
  { client, pods }: PodSources,
  signal: AbortSignal,
): Promise<Pod[]> {
  const owned = pods.byIndex(controllerIndex, sandbox.metadata.uid);
  const key = { ...keyOf(sandbox), name: podNameOf(sandbox) };
  const isWorthAsking = owned.length === 0 && isPodSuspected(sandbox);
  const named = pods.get(key) ?? (isWorthAsking ? await fetchPod(client, key, signal) : undefined);
  const isNews = named && owned.every(({ metadata }) => metadata.uid !== named.metadata.uid);
  return isNews ? [...owned, named] : [...owned];
}

/**
 * True when the status speaks of a pod, or would now say for the first time that there is none. A new sandbox is not
 * asked about: its create finds out as well.
 */
function isPodSuspected(sandbox: Sandbox): boolean {
  const conditions = sandbox.status?.conditions;
  const isGoneUnproven = !shouldRun(sandbox) && findCondition(conditions, 'Suspended')?.status !== 'True';
  return isGoneUnproven || findCondition(conditions, 'PodScheduled') !== undefined;
}

export function fetchPod(client: KubeClient, key: ObjectKey, signal: AbortSignal): Promise<Pod | undefined> {
  return ignoring('not-found', client.get<Pod>(podResource, key, { signal }));
}
