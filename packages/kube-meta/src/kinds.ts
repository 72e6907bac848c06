/** The built-in kinds our parts speak of. Field types come from the published Kubernetes models. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IContainerStatus } from 'kubernetes-models/v1/ContainerStatus';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodStatus } from 'kubernetes-models/v1/PodStatus';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { KubeObject, Resource } from './object.ts';

export type Container = IContainer;
export type ContainerStatus = IContainerStatus;
export type PodSpec = IPodSpec;
export type PodStatus = IPodStatus;
export type Probe = IProbe;
export type Volume = IVolume;

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

const core = { group: '', version: 'v1' } as const;
export const pods: Resource = { ...core, plural: 'pods', kind: 'Pod', namespaced: true };
export const namespaces: Resource = { ...core, plural: 'namespaces', kind: 'Namespace', namespaced: false };
export const secrets: Resource = { ...core, plural: 'secrets', kind: 'Secret', namespaced: true };
export const events: Resource = { ...core, plural: 'events', kind: 'Event', namespaced: true };
export const nodes: Resource = { ...core, plural: 'nodes', kind: 'Node', namespaced: false };
export const customResourceDefinitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
