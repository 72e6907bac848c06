/** Keeps the status of disruption budgets, from which evictions are granted. */
import { type Clock, ignoring, type Log } from '@hutch/base';
import type { Change, EventRecorder, Informer, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  keyOf,
  labelSelectorOf,
  matchesLabels,
  type ObjectKey,
  type OwnerReference,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  resourceText,
} from '@hutch/kube-meta';
import { scaleOf } from '../definitions.ts';
import type { FollowedKinds } from '../followed-kinds.ts';
import type { HomeInformers } from '../home-informers.ts';
import { itself, runWoken, wakeOn } from '../woken-controller.ts';
import { decide } from './decide.ts';

export interface DisruptionDeps {
  readonly client: KubeClient;
  readonly informers: Pick<HomeInformers, 'disruptionBudgets' | 'pods' | 'kinds'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

export async function runDisruption(deps: DisruptionDeps, signal: AbortSignal): Promise<void> {
  const { disruptionBudgets, pods, kinds } = deps.informers;
  const wakes = [
    wakeOn(disruptionBudgets, itself),
    wakeOn(pods, (change) => budgetsOf(change, disruptionBudgets)),
  ];
  const reconcile = disruptionReconciler(deps);
  const needs = [disruptionBudgets, pods, kinds];
  await runWoken({ ...deps, name: 'disruption', wakes, needs, reconcile }, signal);
}

function budgetsOf({ object, previous }: Change<Pod>, budgets: Informer<PodDisruptionBudget>): ObjectKey[] {
  const here = budgets.list(object.metadata.namespace);
  return here.filter((each) => selects(each, object) || (previous && selects(each, previous))).map(keyOf);
}

/** An empty selector selects every pod of the namespace, none at all selects nothing. */
function selects({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  const selector = labelSelectorOf(spec.selector);
  return selector !== undefined && matchesLabels(selector, metadata.labels);
}

function disruptionReconciler({ client, informers, events, clock }: DisruptionDeps): Reconcile {
  return async (key, { signal }) => {
    const budget = informers.disruptionBudgets.get(key);
    if (!budget) return {};
    const pods = informers.pods.list(key.namespace).filter((pod) => selects(budget, pod));
    if (pods.length === 0) {
      events.record(budget, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
    }
    const scale = (controller: OwnerReference, pod: Pod) => controllerScale(informers.kinds, controller, pod);
    const decision = decide({ budget, pods, scaleOf: scale }, clock.now());
    if (decision.hasUnmanaged) {
      const message =
        'some selected pods have no controller, so the budget cannot count them; give minAvailable as a number';
      events.record(budget, { type: 'Warning', reason: 'UnmanagedPods', message });
    }
    // The resourceVersion guards what an eviction has taken meanwhile.
    if (decision.status) {
      const written = { ...budget, status: decision.status };
      await ignoring(
        'not-found',
        client.update(podDisruptionBudgets, written, { subresource: 'status', signal }),
      );
    }
    return { requeueAfterMs: decision.requeueAfterMs };
  };
}

/** How many pods a controller means to have, from our copy of it. */
function controllerScale(kinds: FollowedKinds, { uid }: OwnerReference, pod: Pod): number | string {
  for (const informer of kinds.list()) {
    const [owner] = informer.byIndex('uid', uid);
    if (!owner) continue;
    const definition = kinds.definitionOf(informer.resource);
    const scale = definition && scaleOf(definition, owner);
    return scale ?? `${resourceText(informer.resource)} does not implement the scale subresource`;
  }
  return `found no controllers for pod "${pod.metadata.name}"`;
}
