import type { Clock, Log } from '@hutch/base';
import { createInformer, type IndexOf, type Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  type ClusterRole,
  type ConfigMap,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  type EndpointSlice,
  endpointSlices,
  type KubeObject,
  keyText,
  type Node,
  namespaces,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  type Resource,
  resourceText,
  type Service,
  type ServiceAccount,
  type StorageClass,
  serviceAccounts,
  services,
  storageClasses,
} from '@hutch/kube-meta';
import type { Definition } from './definitions.ts';
import { createFollowedKinds, type FollowedKinds } from './followed-kinds.ts';
import type { HeldNamespace } from './namespaces/namespaces.ts';
import { claimKeysOf, waitsForNode } from './pods.ts';

/** One local copy per kind, shared by all controllers of the home. */
export interface HomeInformers {
  /** Every kind once, those below included. */
  readonly kinds: FollowedKinds;
  /** Also found by the claims they use (`claim`), and those that have no node yet (`waiting`). */
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<HeldNamespace>;
  readonly serviceAccounts: Informer<ServiceAccount>;
  readonly configMaps: Informer<ConfigMap>;
  readonly services: Informer<Service>;
  readonly endpointSlices: Informer<EndpointSlice>;
  /** Also found by the volume they name (`volume`). */
  readonly claims: Informer<PersistentVolumeClaim>;
  /** Also found by the claim they are tied to (`claim`). */
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly disruptionBudgets: Informer<PodDisruptionBudget>;
  readonly clusterRoles: Informer<ClusterRole>;
}

export interface HomeInformerOptions {
  readonly client: KubeClient;
  /** Kinds to follow besides those the controllers themselves look at. */
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Objects of all kinds are found by their own uid and by those of their owners. */
const ownership = {
  uid: ({ metadata }: KubeObject) => [metadata.uid],
  owner: ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
};

const podIndexes = {
  claim: claimKeysOf,
  waiting: (pod: Pod) => (waitsForNode(pod) ? ['true'] : []),
};

const claimIndexes = {
  volume: ({ spec }: PersistentVolumeClaim) => (spec.volumeName ? [spec.volumeName] : []),
};

const volumeIndexes = {
  claim: ({ spec: { claimRef } }: PersistentVolume) =>
    claimRef?.name ? [keyText({ namespace: claimRef.namespace ?? '', name: claimRef.name })] : [],
};

export function createHomeInformers({ resources, ...deps }: HomeInformerOptions): HomeInformers {
  const fixed = new Map<string, Informer<KubeObject>>();
  const follow = <T extends KubeObject>(resource: Resource, indexes: Record<string, IndexOf<T>> = {}) =>
    createInformer<T>({ ...deps, resource, indexes: { ...ownership, ...indexes } });
  const add = <T extends KubeObject>(resource: Resource, indexes?: Record<string, IndexOf<T>>) => {
    const informer = follow<T>(resource, indexes);
    fixed.set(resourceText(resource), informer as unknown as Informer<KubeObject>);
    return informer;
  };

  const definitions = add<Definition>(customResourceDefinitions);
  const named = {
    pods: add<Pod>(pods, podIndexes),
    nodes: add<Node>(nodes),
    namespaces: add<HeldNamespace>(namespaces),
    serviceAccounts: add<ServiceAccount>(serviceAccounts),
    configMaps: add<ConfigMap>(configMaps),
    services: add<Service>(services),
    endpointSlices: add<EndpointSlice>(endpointSlices),
    claims: add<PersistentVolumeClaim>(persistentVolumeClaims, claimIndexes),
    volumes: add<PersistentVolume>(persistentVolumes, volumeIndexes),
    storageClasses: add<StorageClass>(storageClasses),
    disruptionBudgets: add<PodDisruptionBudget>(podDisruptionBudgets),
    clusterRoles: add<ClusterRole>(clusterRoles),
  };
  for (const resource of resources) if (!fixed.has(resourceText(resource))) add(resource);

  const kinds = createFollowedKinds({ fixed: [...fixed.values()], definitions, follow, log: deps.log });
  return { kinds, ...named };
}
