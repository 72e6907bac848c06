/** The scheduler of a home with one node: every pod that waits for a node gets this one. */
import { type Clock, ignoring, type Log } from '@hutch/base';
import { type Informer, type Reconcile, runController, WorkQueue } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { type Draft, isTerminating, type KubeObject, keyOf, type Pod, pods } from '@hutch/kube-meta';

export interface PodBindingDeps {
  readonly client: KubeClient;
  readonly pods: Informer<Pod>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface Binding extends KubeObject {
  readonly target: { readonly apiVersion: 'v1'; readonly kind: 'Node'; readonly name: string };
}

/** Starts on the pod's first event: it needs no whole picture, so it does not wait for one. */
export async function runPodBinding(deps: PodBindingDeps, signal: AbortSignal): Promise<void> {
  const queue = new WorkQueue({ clock: deps.clock });
  const stopListening = deps.pods.onChange(({ type, object }) => {
    if (type !== 'deleted' && waitsForNode(object)) queue.add(keyOf(object));
  });
  try {
    const reconcile = podBinder(deps);
    await runController({ ...deps, name: 'pod-binding', queue, workers: 4, reconcile }, signal);
  } finally {
    stopListening();
  }
}

function podBinder({ client, pods: known, nodeName }: PodBindingDeps): Reconcile {
  return async (key, { signal }) => {
    const pod = known.get(key);
    if (!pod || !waitsForNode(pod)) return {};
    // A conflict says that it is bound already: our copy is only behind.
    const draft = desiredBinding(pod, nodeName);
    const bound = client.create<Binding>(pods, draft, { subresource: 'binding', signal });
    await ignoring('not-found', ignoring('conflict', bound));
    return {};
  };
}

export function waitsForNode(pod: Pod): boolean {
  if (pod.spec.nodeName || isTerminating(pod)) return false;
  if (pod.spec.schedulingGates?.length) return false; // somebody still holds it back
  return pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
}

function desiredBinding({ metadata }: Pod, nodeName: string): Draft<Binding> {
  const { namespace, name, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, uid, ...(namespace === undefined ? {} : { namespace }) }, // the uid guards a namesake
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  };
}
