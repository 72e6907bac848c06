import { type Clock, type Log, runTogether } from '@hutch/base';
import { createEventRecorder } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import type { Resource } from '@hutch/kube-meta';
import { runDisruption } from './disruption/disruption.ts';
import { runEndpointSlices } from './endpoint-slices/endpoint-slices.ts';
import { runGarbageCollection } from './garbage-collection/garbage-collection.ts';
import { createHomeInformers } from './home-informers.ts';
import { runNamespaceDefaults } from './namespace-defaults/namespace-defaults.ts';
import { runNamespaces } from './namespaces/namespaces.ts';
import { runPodBinding } from './pod-binding/pod-binding.ts';
import { runRoleAggregation } from './role-aggregation/role-aggregation.ts';
import { runClaims } from './volumes/claims.ts';
import type { VolumeProvisioner } from './volumes/provisioner.ts';
import { runVolumes } from './volumes/volumes.ts';

export interface HomeControllerOptions {
  readonly client: KubeClient;
  /** The node every pod is bound to. */
  readonly nodeName: string;
  /** Further kinds that are collected with their owners and with their namespace. Custom kinds always are. */
  readonly resources: readonly Resource[];
  /** PEM of the authority pods check the API server by; without it they are given neither that nor a token. */
  readonly rootCa?: string;
  /** Makes the volumes of its storage classes; without it claims of these wait. */
  readonly provisioner?: VolumeProvisioner;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs all controllers of the home until aborted. They wake by watch events and write only what changes. */
export async function runHomeControllers(options: HomeControllerOptions, signal: AbortSignal): Promise<void> {
  const { client, nodeName, rootCa, provisioner, clock, log } = options;
  const informers = createHomeInformers(options);
  const { kinds, namespaces } = informers;
  const deps = { client, clock, log };
  const events = createEventRecorder({ ...deps, component: 'controllermanager' });
  const podEvents = createEventRecorder({ ...deps, component: 'default-scheduler' });
  const volumeEvents = createEventRecorder({ ...deps, component: 'persistentvolume-controller' });
  const storage = { ...deps, informers, provisioner, events: volumeEvents };
  await runTogether(signal, [
    // Listeners first: each hears every change from the first list on.
    (shared) => runPodBinding({ ...deps, informers, nodeName, events: podEvents }, shared),
    (shared) => runGarbageCollection({ ...deps, kinds, events }, shared),
    (shared) => runNamespaces({ ...deps, namespaces, kinds }, shared),
    (shared) => runNamespaceDefaults({ ...deps, informers, rootCa }, shared),
    (shared) => runEndpointSlices({ ...deps, informers }, shared),
    (shared) => runDisruption({ ...deps, informers, events }, shared),
    (shared) => runClaims(storage, shared),
    (shared) => runVolumes(storage, shared),
    (shared) => runRoleAggregation({ ...deps, roles: informers.clusterRoles }, shared),
    (shared) => events.run(shared),
    (shared) => podEvents.run(shared),
    (shared) => volumeEvents.run(shared),
    (shared) => kinds.run(shared),
  ]);
}
