/**
 * Deletes what belongs to owners that are gone.
 *
 * Flow: every kind has a queue of its own, and each of its objects is looked at from both sides. As a
 * dependant: with no owner left it is deleted, with some left the dead references are dropped. As an owner
 * on its way out: deleted in the foreground it stays until the dependants that block it are gone, deleted
 * as `orphan` its dependants are set free first.
 *
 * Guarantees: nothing is deleted whose owner the server still shows; uid and resourceVersion guard every
 * delete, so neither a namesake nor an object that just got a new owner is hit.
 * Wakes: by watch events only. What was left behind while nobody watched is found by the first list.
 */
import { type Clock, type Log, runTogether } from '@hutch/base';
import { type Change, type Informer, type Reconcile, runController, WorkQueue } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { isTerminating, type KubeObject, keyOf, resourceText } from '@hutch/kube-meta';
import { Collector } from './collector.ts';
import { foregroundFinalizer, isWaitingForDependants, orphanFinalizer } from './decide.ts';
import { hasFinalizer } from './finalizers.ts';
import { type Found, OwnerGraph } from './owner-graph.ts';

export interface GarbageCollectionDeps {
  readonly client: KubeClient;
  readonly informers: readonly Informer<KubeObject>[];
  readonly clock: Clock;
  readonly log: Log;
}

export async function runGarbageCollection(deps: GarbageCollectionDeps, signal: AbortSignal): Promise<void> {
  const graph = new OwnerGraph(deps.client, deps.informers);
  const collector = new Collector(deps.client, graph);
  const queues = new Map(deps.informers.map((each) => [each, new WorkQueue({ clock: deps.clock })] as const));
  const lookAt = ({ informer, object }: Found) => queues.get(informer)?.add(keyOf(object));
  const stops = deps.informers.map((informer) =>
    informer.onChange((change) => affectedBy(change, informer, graph).forEach(lookAt)),
  );
  try {
    // Who has no dependants can be told only when all kinds are known.
    await Promise.all(deps.informers.map(({ synced }) => synced));
    await runTogether(
      signal,
      [...queues].map(([informer, queue]) => (shared) => {
        const name = `garbage-collection ${resourceText(informer.resource)}`;
        const reconcile = garbageReconciler(informer, collector);
        return runController({ ...deps, name, queue, workers: 2, reconcile }, shared);
      }),
    );
  } finally {
    for (const stop of stops) stop();
  }
}

/** The object itself; what hangs on it if it goes; and owners that wait for it to go. */
function affectedBy(
  { type, object, previous }: Change<KubeObject>,
  informer: Informer<KubeObject>,
  graph: OwnerGraph,
): readonly Found[] {
  const isGoing = type === 'deleted' || isWaitingForDependants(object);
  return [
    ...(type === 'deleted' || !isConcerned(object) ? [] : [{ informer, object }]),
    ...(isGoing ? graph.dependantsOf(object) : []),
    ...graph.ownersOf(previous ?? object).filter((owner) => isWaitingForDependants(owner.object)),
  ];
}

function isConcerned(object: KubeObject): boolean {
  return isTerminating(object)
    ? hasFinalizer(object, foregroundFinalizer) || hasFinalizer(object, orphanFinalizer)
    : object.metadata.ownerReferences !== undefined;
}

function garbageReconciler(informer: Informer<KubeObject>, collector: Collector): Reconcile {
  return async (key, context) => {
    const object = informer.get(key);
    if (!object) return {};
    if (isTerminating(object)) await collector.finishOwner({ informer, object }, context.signal);
    else await collector.judgeDependant({ informer, object }, context);
    return {};
  };
}
