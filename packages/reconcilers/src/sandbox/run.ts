/** The sandbox controller as a running part: its informers, its queue, its workers. */
import { type Sandbox, sandboxes, sandboxGroup, trackingLabel } from '@hutch/api';
import { type Clock, type Log, raceAbort, runTogether } from '@hutch/base';
import {
  type Change,
  createEventRecorder,
  createInformer,
  runController,
  WorkQueue,
} from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { controllerOf, keyOf, type ObjectKey, type Pod, pods } from '@hutch/kube-meta';
import { controllerIndex } from './find-pods.ts';
import { fieldManager, sandboxReconciler } from './reconcile.ts';

export interface SandboxControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Only this namespace; all when absent. */
  readonly namespace?: string | undefined;
  /** How many sandboxes are worked on at the same time. */
  readonly workers?: number;
}

/** Runs until aborted. Rejects when the API server refuses it what it needs. */
export async function runSandboxController(
  { client, clock, log, namespace, workers = 16 }: SandboxControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const queue = new WorkQueue({ clock });
  const recorder = createEventRecorder({ client, component: fieldManager, clock, log });
  const shared = { client, clock, log };
  const sandboxCopy = createInformer<Sandbox>({ ...shared, resource: sandboxes, scope: { namespace } });
  const podCopy = createInformer<Pod>({
    ...shared,
    resource: pods,
    scope: { namespace, labelSelector: trackingLabel },
    transform: onlyWhatIsRead,
    indexes: { [controllerIndex]: controllerUids },
  });

  sandboxCopy.onChange(({ object }) => queue.add(keyOf(object)));
  podCopy.onChange((change) => {
    for (const key of sandboxesConcerned(change)) queue.add(key);
  });

  const reconcile = sandboxReconciler({ client, clock, recorder, sandboxes: sandboxCopy, pods: podCopy });
  await runTogether(signal, [
    (stop) => sandboxCopy.run(stop),
    (stop) => podCopy.run(stop),
    (stop) => recorder.run(stop),
    async (stop) => {
      // A pass on half a copy would take what it does not see for missing.
      await raceAbort(Promise.all([sandboxCopy.synced, podCopy.synced]), stop);
      await runController({ name: 'sandbox', queue, workers, reconcile, log, clock }, stop);
    },
  ]);
}

/** The sandbox that controls the pod, or did before this change, and the one whose place a pod of this name takes. */
export function sandboxesConcerned({ object, previous }: Change<Pod>): readonly ObjectKey[] {
  const names = new Set([object.metadata.name]);
  for (const pod of [object, previous]) {
    const owner = pod && controllerOf(pod);
    if (owner?.kind === sandboxes.kind && owner.apiVersion.startsWith(`${sandboxGroup}/`))
      names.add(owner.name);
  }
  return [...names].map((name) => ({ ...keyOf(object), name }));
}

function controllerUids(pod: Pod): readonly string[] {
  const owner = controllerOf(pod);
  return owner ? [owner.uid] : [];
}

/** A pod's spec is most of it, and of that only the node is ever asked for. */
function onlyWhatIsRead(pod: Pod): Pod {
  const { managedFields: _fields, finalizers: _finalizers, ...metadata } = pod.metadata;
  const { nodeName } = pod.spec;
  return { ...pod, metadata, spec: { containers: [], ...(nodeName ? { nodeName } : {}) } };
}
