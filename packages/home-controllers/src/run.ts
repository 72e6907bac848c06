import { type Clock, type Log, runTogether } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import type { Resource } from '@hutch/kube-meta';
import { runGarbageCollection } from './garbage-collection/garbage-collection.ts';
import { createHomeInformers } from './home-informers.ts';
import { runNamespaces } from './namespaces/namespaces.ts';
import { runPodBinding } from './pod-binding/pod-binding.ts';

export interface HomeControllerOptions {
  readonly client: KubeClient;
  /** The node every pod is bound to. */
  readonly nodeName: string;
  /** The kinds that are collected with their owners and with their namespace. Pods always are. */
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs all controllers of the home until aborted. They wake by watch events and write only what changes. */
export async function runHomeControllers(options: HomeControllerOptions, signal: AbortSignal): Promise<void> {
  const { client, nodeName, clock, log } = options;
  const { all, pods, namespaces } = createHomeInformers(options);
  const deps = { client, clock, log };
  await runTogether(signal, [
    // Listeners first: each hears every change from the first list on.
    (shared) => runPodBinding({ ...deps, pods, nodeName }, shared),
    (shared) => runGarbageCollection({ ...deps, informers: all }, shared),
    (shared) => runNamespaces({ ...deps, namespaces, informers: all }, shared),
    ...all.map((informer) => (shared: AbortSignal) => informer.run(shared)),
  ]);
}
