/** Sandboxes and their pods as tests state them: only what the case is about. Holds no test itself. */
import { nameHash, type Sandbox, type SandboxSpec, type SandboxStatus, trackingLabel } from '@hutch/api';
import type { DraftMeta, OwnerReference, Pod, PodStatus } from '@hutch/kube-meta';
import { aPod, type PodCase, someMeta } from '@hutch/testing';
import { ownerReference } from './resources.ts';

export const now = new Date('2030-01-01T00:10:00Z');

export interface SandboxCase {
  readonly metadata?: DraftMeta;
  readonly spec?: Partial<SandboxSpec>;
  readonly status?: SandboxStatus;
}

export function aSandbox({ metadata, spec, status }: SandboxCase = {}): Sandbox {
  return {
    apiVersion: 'agents.x-k8s.io/v1beta1',
    kind: 'Sandbox',
    metadata: someMeta('box', { generation: 1, ...metadata }),
    spec: { podTemplate: { spec: { containers: [{ name: 'main', image: 'example.test/image' }] } }, ...spec },
    ...(status ? { status } : {}),
  };
}

export function suspended(given: SandboxCase = {}): Sandbox {
  return aSandbox({ ...given, spec: { operatingMode: 'Suspended', ...given.spec } });
}

/** A pod that `aSandbox()` made: its name, its label, its owner. */
export function ownedPod({ metadata, ...given }: PodCase = {}, owner: Sandbox = aSandbox()): Pod {
  return aPod({
    ...given,
    metadata: {
      name: 'box',
      uid: 'uid-of-pod',
      labels: { [trackingLabel]: nameHash('box') },
      ownerReferences: [ownerReference(owner)],
      ...metadata,
    },
  });
}

export const stranger: OwnerReference = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'other',
  uid: 'uid-of-other',
  controller: true,
};

export const readyPod: PodStatus = {
  phase: 'Running',
  podIPs: [{ ip: '10.0.0.7' }, { ip: 'fd00::7' }],
  conditions: [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Ready', status: 'True' },
  ],
};
