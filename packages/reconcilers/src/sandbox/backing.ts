/** Which pod stands behind a sandbox. The uid of a pod's controller decides; names and labels only find candidates. */
import { podNameOf, type Sandbox } from '@hutch/api';
import { controllerOf, isTerminating, type Pod } from '@hutch/kube-meta';

export type Backing =
  | { readonly type: 'absent' }
  | { readonly type: 'owned'; readonly pod: Pod }
  /** A pod has the name, but this sandbox does not control it. */
  | { readonly type: 'not-ours'; readonly pod: Pod }
  /** More than one pod of ours is meant to live: nobody can say which one is right. */
  | { readonly type: 'several'; readonly count: number }
  /** The API server would not say. */
  | { readonly type: 'unknown' };

export function ownedPods(pods: readonly Pod[], sandbox: Sandbox): readonly Pod[] {
  return pods.filter((pod) => controllerOf(pod)?.uid === sandbox.metadata.uid);
}

/**
 * Terminating pods of ours do not count as several (they are on their way out), but as long as one exists it stays
 * the backing pod, so that no replacement meets it. When all pods of ours are to go, several are no riddle.
 */
export function backingOf(pods: readonly Pod[], sandbox: Sandbox, shouldLive: boolean): Backing {
  const owned = ownedPods(pods, sandbox);
  const living = owned.filter((pod) => !isTerminating(pod));
  if (shouldLive && living.length > 1) return { type: 'several', count: living.length };
  const pod = living[0] ?? owned[0];
  if (pod) return { type: 'owned', pod };

  const named = byName(pods, podNameOf(sandbox)) ?? byName(pods, sandbox.metadata.name);
  return named ? { type: 'not-ours', pod: named } : { type: 'absent' };
}

function byName(pods: readonly Pod[], name: string): Pod | undefined {
  return pods.find((pod) => pod.metadata.name === name);
}
