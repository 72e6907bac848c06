/**
 * Keeps the endpoint slices of every service with a selector in line with the pods behind it.
 *
 * Wakes: by the service, by its slices, by the pods it selects or selected until now, and by their nodes.
 * Assumes nothing of its copies being current: creates are refused by name, updates and deletes by
 * resourceVersion, and the queue tries again.
 */
import { type Clock, ignoring, type Log, unreachable } from '@hutch/base';
import type { Change, Informer, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  type EndpointSlice,
  endpointSlices,
  isTerminating,
  keyOf,
  labelSelectorOf,
  matchesLabels,
  type ObjectKey,
  type Pod,
  type Service,
} from '@hutch/kube-meta';
import type { HomeInformers } from '../home-informers.ts';
import { unlessTerminating } from '../terminating-namespace.ts';
import { itself, runWoken, wakeOn } from '../woken-controller.ts';
import { type Action, decide, isFilledByUs, managedBy, managedByLabel, serviceNameLabel } from './decide.ts';

export interface EndpointSliceDeps {
  readonly client: KubeClient;
  readonly informers: Pick<HomeInformers, 'services' | 'pods' | 'endpointSlices' | 'nodes'>;
  readonly clock: Clock;
  readonly log: Log;
}

const zoneLabel = 'topology.kubernetes.io/zone';

export async function runEndpointSlices(deps: EndpointSliceDeps, signal: AbortSignal): Promise<void> {
  const { services, pods, endpointSlices, nodes } = deps.informers;
  const wakes = [
    wakeOn(services, itself),
    wakeOn(pods, (change) => servicesOf(change, services)),
    wakeOn(endpointSlices, ({ object }) => serviceKey(object)),
    wakeOn(nodes, ({ object, previous }) =>
      object.metadata.labels?.[zoneLabel] === previous?.metadata.labels?.[zoneLabel]
        ? []
        : services.list().map(keyOf),
    ),
  ];
  const needs = [services, pods, endpointSlices, nodes];
  const reconcile = endpointSliceReconciler(deps);
  await runWoken({ ...deps, name: 'endpoint-slices', wakes, needs, reconcile }, signal);
}

/** Those that select the pod, or did before it changed. */
function servicesOf({ object, previous }: Change<Pod>, services: Informer<Service>): readonly ObjectKey[] {
  const here = services.list(object.metadata.namespace);
  return here
    .filter((service) => selects(service, object) || (previous && selects(service, previous)))
    .map(keyOf);
}

function serviceKey({ metadata }: EndpointSlice): readonly ObjectKey[] {
  const name = metadata.labels?.[serviceNameLabel];
  return name && metadata.namespace ? [{ namespace: metadata.namespace, name }] : [];
}

function selects({ spec }: Service, { metadata }: Pod): boolean {
  const selector = labelSelectorOf({ matchLabels: spec.selector ?? {} });
  return selector !== undefined && matchesLabels(selector, metadata.labels);
}

function endpointSliceReconciler({ client, informers }: EndpointSliceDeps): Reconcile {
  const isOwn = ({ metadata }: EndpointSlice, service: Service) =>
    metadata.labels?.[serviceNameLabel] === service.metadata.name &&
    metadata.labels?.[managedByLabel] === managedBy;
  return async (key, { signal }) => {
    const service = informers.services.get(key);
    if (!service || !isFilledByUs(service)) return {};
    const actions = decide({
      service,
      pods: informers.pods.list(key.namespace).filter((pod) => selects(service, pod)),
      zoneOf: (name) => informers.nodes.get({ name })?.metadata.labels?.[zoneLabel],
      slices: informers.endpointSlices
        .list(key.namespace)
        .filter((slice) => isOwn(slice, service) && !isTerminating(slice)),
      isTaken: (name) => informers.endpointSlices.get({ ...key, name }) !== undefined,
    });
    for (const action of actions) await apply(client, action, signal);
    return {};
  };
}

async function apply(client: KubeClient, action: Action, signal: AbortSignal): Promise<void> {
  switch (action.type) {
    case 'create': {
      const created = client.create<EndpointSlice>(endpointSlices, action.draft, { signal });
      await ignoring('already-exists', unlessTerminating(created)); // its event brings us back
      return;
    }
    case 'update':
      await client.update(endpointSlices, action.slice, { signal });
      return;
    case 'delete': {
      const { uid, resourceVersion } = action.slice.metadata;
      const deleted = client.delete(endpointSlices, keyOf(action.slice), { uid, resourceVersion, signal });
      await ignoring('not-found', deleted);
      return;
    }
    default:
      unreachable(action);
  }
}
