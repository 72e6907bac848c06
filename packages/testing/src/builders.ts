/**
 * Objects as a server would return them. A case states only what it is about; the rest is plausible.
 * Metadata that is given replaces the default field by field.
 */
import { type Sandbox, type SandboxSpec, type SandboxStatus, sandboxes } from '@hutch/api';
import {
  apiVersionOf,
  type DraftMeta,
  type KubeObject,
  type Namespace,
  type ObjectMeta,
  type Pod,
  type PodSpec,
  type PodStatus,
} from '@hutch/kube-meta';

/** Metadata of an object named `name` in namespace `default`; the uid follows from the name. */
export function someMeta(name: string, given: DraftMeta = {}): ObjectMeta {
  return {
    name,
    namespace: 'default',
    uid: `uid-of-${given.name ?? name}`,
    resourceVersion: '1',
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...given,
  };
}

/** Any object; the kind is one nobody serves unless it is said. */
export function anObject(
  given: { apiVersion?: string; kind?: string; metadata?: DraftMeta } = {},
): KubeObject {
  return {
    apiVersion: given.apiVersion ?? 'example.test/v1',
    kind: given.kind ?? 'Thing',
    metadata: someMeta('thing', given.metadata),
  };
}

export interface PodCase {
  readonly metadata?: DraftMeta;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus;
  /** Deleted, and waiting for its node to stop it. */
  readonly terminating?: boolean;
}

export function aPod({ metadata, spec, status, terminating = false }: PodCase = {}): Pod {
  const going = terminating
    ? { deletionTimestamp: '2030-01-01T00:01:00Z', deletionGracePeriodSeconds: 30 }
    : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: someMeta('pod', { ...going, ...metadata }),
    spec: { containers: [{ name: 'main', image: 'example.test/image' }], ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

export function aNamespace({
  metadata,
  terminating = false,
}: Omit<PodCase, 'spec' | 'status'> = {}): Namespace {
  const { namespace: _, ...meta } = someMeta('default', metadata);
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: terminating ? { deletionTimestamp: '2030-01-01T00:01:00Z', ...meta } : meta,
    status: { phase: terminating ? 'Terminating' : 'Active' },
  };
}

export interface SandboxCase {
  readonly metadata?: DraftMeta;
  readonly spec?: Partial<SandboxSpec>;
  readonly status?: SandboxStatus;
  readonly terminating?: boolean;
}

export function aSandbox({ metadata, spec, status, terminating = false }: SandboxCase = {}): Sandbox {
  const going = terminating ? { deletionTimestamp: '2030-01-01T00:01:00Z' } : {};
  return {
    apiVersion: apiVersionOf(sandboxes),
    kind: sandboxes.kind,
    metadata: someMeta('sandbox', { generation: 1, ...going, ...metadata }),
    spec: {
      podTemplate: { spec: { containers: [{ name: 'main', image: 'example.test/image' }] } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}
