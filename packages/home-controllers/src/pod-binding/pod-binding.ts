/**
 * The scheduler of a home with one node: every pod that waits for a node gets this one, unless it asks for
 * another, or cannot have its volumes there; then it is told why, and looked at again when that may have
 * changed.
 *
 * A pod without claims is bound on its first event: that needs no whole picture of pods, so it waits for none.
 */
import { type Clock, ignoring, type Log, unreachable } from '@hutch/base';
import type { EventRecorder, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  type Draft,
  type KubeObject,
  keyOf,
  keyText,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
} from '@hutch/kube-meta';
import type { HomeInformers } from '../home-informers.ts';
import { claimNamesOf, waitsForNode } from '../pods.ts';
import { bindVolume } from '../volumes/binding.ts';
import { selectedNode } from '../volumes/match.ts';
import { itself, runWoken, wakeOn } from '../woken-controller.ts';
import type { ClaimStep } from './claims.ts';
import { type Decision, decide } from './decide.ts';
import type { Place } from './fit.ts';

export interface PodBindingDeps {
  readonly client: KubeClient;
  readonly informers: Pick<HomeInformers, 'pods' | 'nodes' | 'claims' | 'volumes' | 'storageClasses'>;
  readonly nodeName: string;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** Pods that name another scheduler are left to it. */
const schedulerName = 'default-scheduler';

export async function runPodBinding(deps: PodBindingDeps, signal: AbortSignal): Promise<void> {
  const { informers, nodeName } = deps;
  const waiting = () => informers.pods.byIndex('waiting', 'true');
  const waitingForClaims = () => waiting().filter((pod) => claimNamesOf(pod).length > 0);
  const wakes = [
    wakeOn(informers.pods, (change) => (isOurs(change.object) ? itself(change) : [])),
    wakeOn(informers.nodes, ({ object }) => (object.metadata.name === nodeName ? waiting().map(keyOf) : [])),
    wakeOn(informers.claims, ({ object }) =>
      informers.pods
        .byIndex('claim', keyText(keyOf(object)))
        .filter(waitsForNode)
        .map(keyOf),
    ),
    wakeOn(informers.volumes, () => waitingForClaims().map(keyOf)),
    wakeOn(informers.storageClasses, () => waitingForClaims().map(keyOf)),
  ];
  const needs = [informers.nodes]; // it may be closed to new pods
  const reconcile = podBinder(deps);
  await runWoken({ ...deps, name: 'pod-binding', wakes, needs, workers: 4, reconcile }, signal);
}

function isOurs(pod: Pod): boolean {
  return waitsForNode(pod) && (pod.spec.schedulerName ?? schedulerName) === schedulerName;
}

function podBinder(deps: PodBindingDeps): Reconcile {
  const { informers, nodeName } = deps;
  const { nodes, claims, volumes, storageClasses } = informers;
  return async (key, { signal }) => {
    const pod = informers.pods.get(key);
    if (!pod || !isOurs(pod)) return {};
    const usesClaims = claimNamesOf(pod).length > 0;
    if (usesClaims) await Promise.all([claims, volumes, storageClasses].map(({ synced }) => synced));
    const decision = decide({
      pod,
      place: placeOf(nodeName, nodes.get({ name: nodeName })),
      claimOf: (name) => claims.get({ ...key, name }),
      volumes: usesClaims ? volumes.list() : [],
      storageClassOf: (name) => storageClasses.get({ name }),
    });
    await apply(deps, pod, { decision, signal });
    return {};
  };
}

/** A node that has not told of itself yet is known by its name only. */
function placeOf(name: string, node: Place | undefined): Place {
  return node ?? { metadata: { name, labels: { 'kubernetes.io/hostname': name } } };
}

interface Applying {
  readonly decision: Decision;
  readonly signal: AbortSignal;
}

async function apply(deps: PodBindingDeps, pod: Pod, { decision, signal }: Applying): Promise<void> {
  switch (decision.type) {
    case 'bind':
      return await bind(deps, pod, signal);
    case 'prepare':
      for (const step of decision.steps) await prepare(deps, step, signal);
      return;
    case 'refuse':
      return await refuse(deps, pod, { message: decision.message, signal });
    default:
      return unreachable(decision);
  }
}

async function bind(
  { client, nodeName, events }: PodBindingDeps,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  const draft = desiredBinding(pod, nodeName);
  const bound = client.create<Binding>(pods, draft, { subresource: 'binding', signal });
  // A conflict says that it is bound already: our copy is only behind.
  const isNew = await ignoring('not-found', ignoring('conflict', bound));
  if (!isNew) return;
  const message = `Successfully assigned ${keyText(keyOf(pod))} to ${nodeName}`;
  events.record(pod, { type: 'Normal', reason: 'Scheduled', message });
}

async function prepare(
  { client, nodeName }: PodBindingDeps,
  step: ClaimStep,
  signal: AbortSignal,
): Promise<void> {
  if (step.type === 'reserve') {
    await bindVolume(client, step, signal);
    return;
  }
  const { resourceVersion } = step.claim.metadata;
  const patch = { metadata: { resourceVersion, annotations: { [selectedNode]: nodeName } } };
  await client.patch<PersistentVolumeClaim>(persistentVolumeClaims, keyOf(step.claim), patch, { signal });
}

/** Said once: a pod that already carries the message is left alone. */
async function refuse(
  { client, events, clock }: PodBindingDeps,
  pod: Pod,
  { message, signal }: { message: string; signal: AbortSignal },
): Promise<void> {
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'PodScheduled');
  if (before?.status === 'False' && before.message === message) return;
  const now = clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastProbeTime: null,
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  };
  const others = conditions.filter(({ type }) => type !== 'PodScheduled');
  const patch = {
    metadata: { resourceVersion: pod.metadata.resourceVersion },
    status: { conditions: [...others, condition] },
  };
  await ignoring('not-found', client.patch(pods, keyOf(pod), patch, { subresource: 'status', signal }));
  events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
}

interface Binding extends KubeObject {
  readonly target: { readonly apiVersion: 'v1'; readonly kind: 'Node'; readonly name: string };
}

function desiredBinding({ metadata }: Pod, nodeName: string): Draft<Binding> {
  const { namespace, name, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, uid, ...(namespace === undefined ? {} : { namespace }) }, // the uid guards a namesake
    target: { apiVersion: 'v1', kind: 'Node', name: nodeName },
  };
}
