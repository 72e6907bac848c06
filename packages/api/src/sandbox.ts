/** The Sandbox kind, v1beta1. The schema that guards it is in schemas/sandbox.ts; a test holds the two together. */
import type { Condition, KubeObject, PodSpec, Resource, StringMap } from '@hutch/kube-meta';
import { isConditionTrue } from './conditions.ts';
import { podNameAnnotation } from './metadata.ts';

export const sandboxGroup = 'agents.x-k8s.io';
export const extensionsGroup = 'extensions.agents.x-k8s.io';

export const sandboxes: Resource = {
  group: sandboxGroup,
  version: 'v1beta1',
  plural: 'sandboxes',
  kind: 'Sandbox',
  namespaced: true,
};

export interface PodTemplate {
  readonly spec: PodSpec;
  readonly metadata?: { readonly labels?: StringMap; readonly annotations?: StringMap };
}

export interface PersistentVolumeClaimTemplate {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: StringMap;
    readonly annotations?: StringMap;
  };
  readonly spec: PersistentVolumeClaimSpec;
}

interface TypedReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

/** Written out because claims are compared whole, and passed on verbatim. */
export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly string[];
  readonly dataSource?: TypedReference;
  readonly dataSourceRef?: TypedReference & { readonly namespace?: string };
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string | number>>;
    readonly requests?: Readonly<Record<string, string | number>>;
  };
  readonly selector?: {
    readonly matchExpressions?: readonly {
      readonly key: string;
      readonly operator: string;
      readonly values?: readonly string[];
    }[];
    readonly matchLabels?: StringMap;
  };
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: string;
  readonly volumeName?: string;
}

export type OperatingMode = 'Running' | 'Suspended';
export type ShutdownPolicy = 'Delete' | 'Retain';

export interface SandboxSpec {
  readonly podTemplate: PodTemplate;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaimTemplate[];
  /** true: a headless Service is kept; false: ours is removed; absent: one we own stays, none is made. */
  readonly service?: boolean;
  /** RFC 3339. Absent: never. */
  readonly shutdownTime?: string;
  /** What becomes of the Sandbox object at `shutdownTime`. Served with the default `Retain`. */
  readonly shutdownPolicy?: ShutdownPolicy;
  /** Served with the default `Running`. */
  readonly operatingMode?: OperatingMode;
}

export interface SandboxStatus {
  readonly conditions?: readonly Condition[];
  readonly selector?: string;
  readonly service?: string;
  readonly serviceFQDN?: string;
  readonly podIPs?: readonly string[];
  readonly nodeName?: string;
}

export interface Sandbox extends KubeObject {
  readonly spec: SandboxSpec;
  readonly status?: SandboxStatus;
}

export const sandboxDefaults = {
  operatingMode: 'Running',
  shutdownPolicy: 'Retain',
} as const satisfies Partial<SandboxSpec>;

export type SandboxConditionType = 'Ready' | 'Suspended' | 'PodScheduled' | 'Finished';

/** Every reason a Sandbox's conditions can carry, except scheduler's own that `PodScheduled` mirrors. */
export type SandboxReason =
  | 'DependenciesReady'
  | 'DependenciesNotReady'
  | 'InvalidConfiguration'
  | 'MultiplePods'
  | 'NotSuspended'
  | 'PodFailed'
  | 'PodNotOwned'
  | 'PodScheduled'
  | 'PodSchedulingUnknown'
  | 'PodStateUnknown'
  | 'PodSucceeded'
  | 'PodTerminated'
  | 'PodTerminating'
  | 'ReconcilerError'
  | 'SandboxExpired'
  | 'SandboxSuspended';

/** Anything but `Suspended` means running. */
export function shouldRun(sandbox: Pick<Sandbox, 'spec'>): boolean {
  return sandbox.spec.operatingMode !== 'Suspended';
}

export function isSandboxReady(sandbox: Pick<Sandbox, 'status'>): boolean {
  return isConditionTrue(sandbox.status?.conditions, 'Ready');
}

/** The name of the pod behind a sandbox. */
export function podNameOf(sandbox: Pick<Sandbox, 'metadata'>): string {
  return sandbox.metadata.annotations?.[podNameAnnotation] || sandbox.metadata.name;
}
