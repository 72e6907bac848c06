/** The built-in kinds our parts speak of. Field types come from the published Kubernetes models. */
import type { IEndpoint } from 'kubernetes-models/discovery.k8s.io/v1/Endpoint';
import type { IEndpointPort } from 'kubernetes-models/discovery.k8s.io/v1/EndpointPort';
import type { IPodDisruptionBudgetSpec } from 'kubernetes-models/policy/v1/PodDisruptionBudgetSpec';
import type { IPodDisruptionBudgetStatus } from 'kubernetes-models/policy/v1/PodDisruptionBudgetStatus';
import type { IAggregationRule } from 'kubernetes-models/rbac.authorization.k8s.io/v1/AggregationRule';
import type { IPolicyRule } from 'kubernetes-models/rbac.authorization.k8s.io/v1/PolicyRule';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IContainerStatus } from 'kubernetes-models/v1/ContainerStatus';
import type { INodeSpec } from 'kubernetes-models/v1/NodeSpec';
import type { INodeStatus } from 'kubernetes-models/v1/NodeStatus';
import type { IPersistentVolumeClaimSpec } from 'kubernetes-models/v1/PersistentVolumeClaimSpec';
import type { IPersistentVolumeClaimStatus } from 'kubernetes-models/v1/PersistentVolumeClaimStatus';
import type { IPersistentVolumeSpec } from 'kubernetes-models/v1/PersistentVolumeSpec';
import type { IPersistentVolumeStatus } from 'kubernetes-models/v1/PersistentVolumeStatus';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodStatus } from 'kubernetes-models/v1/PodStatus';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import type { IServicePort } from 'kubernetes-models/v1/ServicePort';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { KubeObject, Resource, StringMap } from './object.ts';

export type Container = IContainer;
export type ContainerStatus = IContainerStatus;
export type PodSpec = IPodSpec;
export type PodStatus = IPodStatus;
export type Probe = IProbe;
export type Volume = IVolume;
export type ServicePort = IServicePort;
export type Endpoint = IEndpoint;
export type EndpointPort = IEndpointPort;
export type PolicyRule = IPolicyRule;

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: 'Active' | 'Terminating' };
}

export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Event extends KubeObject {
  readonly involvedObject: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Node extends KubeObject {
  readonly spec?: INodeSpec;
  readonly status?: INodeStatus;
}

export interface ConfigMap extends KubeObject {
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
}

export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
}

export interface Service extends KubeObject {
  readonly spec: IServiceSpec;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  /** The real server leaves an empty list out of its answers. */
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

export interface PersistentVolume extends KubeObject {
  readonly spec: IPersistentVolumeSpec;
  readonly status?: IPersistentVolumeStatus;
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: IPersistentVolumeClaimSpec;
  readonly status?: IPersistentVolumeClaimStatus;
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly parameters?: StringMap;
  readonly reclaimPolicy?: 'Delete' | 'Retain' | 'Recycle';
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
  readonly allowVolumeExpansion?: boolean;
  readonly mountOptions?: readonly string[];
}

export interface PodDisruptionBudget extends KubeObject {
  readonly spec: IPodDisruptionBudgetSpec;
  readonly status?: IPodDisruptionBudgetStatus;
}

export interface ClusterRole extends KubeObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: IAggregationRule;
}

const core = { group: '', version: 'v1' } as const;
export const pods: Resource = { ...core, plural: 'pods', kind: 'Pod', namespaced: true };
export const namespaces: Resource = { ...core, plural: 'namespaces', kind: 'Namespace', namespaced: false };
export const secrets: Resource = { ...core, plural: 'secrets', kind: 'Secret', namespaced: true };
export const events: Resource = { ...core, plural: 'events', kind: 'Event', namespaced: true };
export const nodes: Resource = { ...core, plural: 'nodes', kind: 'Node', namespaced: false };
export const configMaps: Resource = { ...core, plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
export const services: Resource = { ...core, plural: 'services', kind: 'Service', namespaced: true };
export const serviceAccounts: Resource = {
  ...core,
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};
export const persistentVolumes: Resource = {
  ...core,
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
};
export const persistentVolumeClaims: Resource = {
  ...core,
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
};
export const endpointSlices: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};
export const storageClasses: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};
export const podDisruptionBudgets: Resource = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
export const roles: Resource = { ...rbac, plural: 'roles', kind: 'Role', namespaced: true };
export const roleBindings: Resource = {
  ...rbac,
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
};
export const clusterRoles: Resource = {
  ...rbac,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
};
export const clusterRoleBindings: Resource = {
  ...rbac,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
};
export const leases: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
export const networkPolicies: Resource = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
};
export const runtimeClasses: Resource = {
  group: 'node.k8s.io',
  version: 'v1',
  plural: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
};
export const priorityClasses: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};
export const customResourceDefinitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
