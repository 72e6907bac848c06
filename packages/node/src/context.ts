/** What all pods of a home share. Put together once by the agent. */
import type { Clock, Log } from '@hutch/base';
import type { EventRecorder } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import type { Tools } from './command.ts';
import type { OciHooks, OciIdMapping } from './containers/oci.ts';
import type { DefaultLimits } from './containers/resources.ts';
import type { ContainerRuntime } from './containers/runtime.ts';
import type { HomeLayout } from './home.ts';
import type { ImageStore } from './images/image.ts';
import type { Uplinks } from './network/home-network.ts';
import type { HomeNetworkPlan } from './network/plan.ts';
import type { Slots } from './network/slots.ts';
import type { NodeAbilities } from './pods/refusal.ts';
import type { PodTimings } from './pods/timings.ts';

export interface NodeContext {
  readonly nodeName: string;
  readonly hostIp: string;
  readonly home: HomeLayout;
  readonly tools: Tools;
  readonly network: HomeNetworkPlan;
  /** See `HomeNames`. */
  readonly containerPrefix: string;
  readonly uplinks: Uplinks;
  readonly slots: Slots;
  readonly runtime: ContainerRuntime;
  /** See `chooseRootPath`. */
  readonly rootPath: string;
  readonly images: ImageStore;
  readonly limits: DefaultLimits;
  readonly nameservers: readonly string[];
  /** Undefined: this machine has no user namespaces, root inside is root outside. */
  readonly idMapping: OciIdMapping | undefined;
  /** See `kernelLimitHooks`. */
  readonly hooks: OciHooks | undefined;
  readonly abilities: NodeAbilities;
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly timings: PodTimings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who root inside is outside. */
export function firstUid({ idMapping }: Pick<NodeContext, 'idMapping'>): number {
  return idMapping?.hostID ?? 0;
}
