/** Removes a pod that nothing but the ledger knows: an orphan, or the pod of a home that is swept. */
import { messageOf } from '@hutch/base';
import type { Tools } from '../command.ts';
import type { ContainerPlace, ContainerRuntime } from '../containers/runtime.ts';
import { type HomeLayout, podLayout } from '../home.ts';
import { type HomeNetworkPlan, podNetworkPlan } from '../network/plan.ts';
import { releaseNamespace, removeLink } from '../network/pod-network.ts';
import { removeTrees } from '../remove-trees.ts';
import { type LedgerEntry, recordedContainers } from './ledger.ts';

export interface RemovalContext {
  readonly home: HomeLayout;
  readonly network: HomeNetworkPlan;
  readonly containerPrefix: string;
  /** False: the index is another home's by now, and so are the links that bear it. */
  readonly isIndexOurs: boolean;
  readonly runtime: ContainerRuntime;
  readonly tools: Tools;
}

/** Also the name of its control group; the home's own prefix makes it findable without a ledger. */
export function containerIdOf(prefix: string, uid: string, name: string, attempt: number): string {
  return `${prefix}${uid}-${name}-${attempt}`;
}

export async function placesOf(
  uid: string,
  { home, containerPrefix }: Pick<RemovalContext, 'home' | 'containerPrefix'>,
): Promise<ContainerPlace[]> {
  const recorded = await recordedContainers(podLayout(home, uid));
  return recorded.map(({ name, attempt, directory }) => ({
    id: containerIdOf(containerPrefix, uid, name, attempt),
    directory,
  }));
}

/** Goes on after a failure and returns what failed; the ledger entry stays until nothing does. */
export async function removeRecordedPod(entry: LedgerEntry, context: RemovalContext): Promise<string[]> {
  const { runtime, tools, network, isIndexOurs, home } = context;
  const layout = podLayout(home, entry.uid);
  const failures: string[] = [];
  const step = async (work: Promise<void>) => {
    await work.catch((err: unknown) => failures.push(messageOf(err)));
  };
  for (const place of await placesOf(entry.uid, context)) await step(runtime.remove(place));
  if (entry.slot !== undefined && isIndexOurs)
    await step(removeLink(podNetworkPlan(network, entry.slot).link, tools));
  await step(releaseNamespace(layout.netns, tools));
  if (failures.length === 0) await step(removeTrees([layout.root], tools));
  return failures;
}
