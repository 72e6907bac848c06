/**
 * Deletes what belongs to owners that are gone.
 *
 * Flow: every object is looked at from both sides. As a dependant: with no owner left it is deleted, with
 * some left the dead references are dropped. As an owner on its way out: deleted in the foreground it stays
 * until the dependants that block it are gone, deleted as `orphan` its dependants are set free first.
 *
 * Guarantees: nothing is deleted whose owner the server still shows; uid and resourceVersion guard every
 * delete, so neither a namesake nor an object that just got a new owner is hit.
 * Wakes: by watch events only. What was left behind while nobody watched is found by the first list, and
 * what names an owner of a kind nobody serves, when that kind appears.
 */
import type { Clock, Log } from '@hutch/base';
import type { Change, EventRecorder, Informer, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { customResourceDefinitions, isTerminating, type KubeObject, resourceText } from '@hutch/kube-meta';
import { type Definition, servedResource } from '../definitions.ts';
import type { FollowedKinds } from '../followed-kinds.ts';
import { runWoken, type Wake } from '../woken-controller.ts';
import { Collector } from './collector.ts';
import { foregroundFinalizer, isWaitingForDependants, orphanFinalizer } from './decide.ts';
import { hasFinalizer } from './finalizers.ts';
import { type Found, OwnerGraph } from './owner-graph.ts';

export interface GarbageCollectionDeps {
  readonly client: KubeClient;
  readonly kinds: FollowedKinds;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

export async function runGarbageCollection(deps: GarbageCollectionDeps, signal: AbortSignal): Promise<void> {
  const graph = new OwnerGraph(deps.client, deps.kinds);
  const collector = new Collector({ ...deps, graph });
  // Keys are uids: owners are of any kind, and references name them by uid.
  const wake: Wake = (lookAt) =>
    deps.kinds.onChange((change, informer) => {
      for (const { object } of affectedBy(change, informer, graph)) lookAt({ name: object.metadata.uid });
    });
  const reconcile = garbageReconciler(graph, collector);
  // Who has no dependants can be told only when all kinds are known.
  const needs = [deps.kinds];
  await runWoken(
    { ...deps, name: 'garbage-collection', wakes: [wake], needs, workers: 8, reconcile },
    signal,
  );
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
    ...claimingNewKind({ informer, object }, graph),
  ];
}

function claimingNewKind({ informer, object }: Found, graph: OwnerGraph): readonly Found[] {
  if (resourceText(informer.resource) !== resourceText(customResourceDefinitions)) return [];
  const resource = servedResource(object as Definition);
  return resource ? graph.claimingOwnersOf(resource) : [];
}

function isConcerned(object: KubeObject): boolean {
  return isTerminating(object)
    ? hasFinalizer(object, foregroundFinalizer) || hasFinalizer(object, orphanFinalizer)
    : object.metadata.ownerReferences !== undefined;
}

function garbageReconciler(graph: OwnerGraph, collector: Collector): Reconcile {
  return async ({ name: uid }, context) => {
    const found = graph.find(uid);
    if (!found) return {};
    if (isTerminating(found.object)) await collector.finishOwner(found, context.signal);
    else await collector.judgeDependant(found, context);
    return {};
  };
}
