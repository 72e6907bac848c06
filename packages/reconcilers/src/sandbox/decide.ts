/**
 * What to do about one sandbox. No await, no clock, no client: every interesting case is a row of a table.
 *
 * A sandbox has one pod while it should live, and none while it is suspended or past its shutdown time. Objects that
 * this sandbox does not control are never changed, except an unowned pod whose label offers it for adoption.
 *
 * The pod-name annotation is kept only where the pod is not named like the sandbox: clients take the sandbox's name
 * when it is missing, and a write on every cold start would buy nothing.
 */
import { adoptableLabel, podNameAnnotation, type Sandbox, shouldRun } from '@hutch/api';
import { controllerOf, type Draft, isTerminating, keyOf, keyText, type Pod } from '@hutch/kube-meta';
import { type Backing, backingOf, ownedPods } from './backing.ts';
import { metadataDrift } from './metadata.ts';
import { desiredPod, misconfiguration, ownerReference, unserved } from './resources.ts';
import type { Trouble } from './status.ts';

export interface Observed {
  readonly sandbox: Sandbox;
  /** Every pod this sandbox controls, and whichever has the name its pod would have. */
  readonly pods: readonly Pod[];
}

export type Action =
  | { readonly type: 'create-pod'; readonly pod: Draft<Pod> }
  | { readonly type: 'adopt-pod' | 'patch-pod'; readonly pod: Pod; readonly patch: object }
  | { readonly type: 'delete-pod'; readonly pod: Pod }
  /** null removes the annotation. */
  | { readonly type: 'point-to-pod'; readonly podName: string | null }
  | { readonly type: 'delete-sandbox' }
  /** The status is computed from the world as the actions before have left it, and written if it differs. */
  | { readonly type: 'write-status' };

export interface Decision {
  readonly actions: readonly Action[];
  readonly isExpired: boolean;
  /** Why the sandbox cannot have what it asks for, as far as that is known without asking the API server. */
  readonly trouble?: Trouble | undefined;
  /** When to look again if no watch event arrives first. */
  readonly requeueAfterMs?: number | undefined;
}

/** A pod in our way may be one that no watch of ours covers, so its end would go unnoticed. */
const blockedRecheckMs = 10_000;

export function decide({ sandbox, pods }: Observed, now: Date): Decision {
  if (isTerminating(sandbox)) return { actions: [], isExpired: false }; // its pod goes with its owner
  const remainingMs = millisUntilShutdown(sandbox, now);
  if (remainingMs <= 0) return { actions: expire(sandbox, pods), isExpired: true };

  const plan = shouldRun(sandbox) ? run(sandbox, pods) : suspend(sandbox, pods);
  const trouble = plan.trouble ?? troubleWith('ReconcilerError', unserved(sandbox));
  const { actions, isBlocked } = plan;
  const requeueAfterMs = Math.min(remainingMs, isBlocked ? blockedRecheckMs : Infinity);
  return {
    actions: [...actions, { type: 'write-status' }],
    isExpired: false,
    ...(trouble ? { trouble } : {}),
    ...(remainingMs === Infinity && !isBlocked ? {} : { requeueAfterMs }),
  };
}

/** Infinity when the sandbox has no shutdown time. Reached when it is zero or less. */
function millisUntilShutdown(sandbox: Sandbox, now: Date): number {
  const { shutdownTime } = sandbox.spec;
  const at = shutdownTime === undefined ? Number.NaN : Date.parse(shutdownTime);
  return Number.isNaN(at) ? Infinity : at - now.getTime();
}

interface Plan {
  readonly actions: readonly Action[];
  readonly trouble?: Trouble | undefined;
  readonly isBlocked?: boolean;
}

/** The status goes first: whoever sees the pod disappear can already read why. */
function expire(sandbox: Sandbox, pods: readonly Pod[]): Action[] {
  const actions: Action[] = [{ type: 'write-status' }, ...deletions(sandbox, pods)];
  if (sandbox.spec.shutdownPolicy === 'Delete') actions.push({ type: 'delete-sandbox' });
  return actions;
}

function suspend(sandbox: Sandbox, pods: readonly Pod[]): Plan {
  const backing = backingOf(pods, sandbox, false);
  if (backing.type === 'owned') return { actions: deletions(sandbox, pods) };
  return { actions: pointer(sandbox, null), isBlocked: backing.type === 'not-ours' };
}

/** A terminating pod is left alone. */
function deletions(sandbox: Sandbox, pods: readonly Pod[]): Action[] {
  return ownedPods(pods, sandbox)
    .filter((pod) => !isTerminating(pod))
    .map((pod) => ({ type: 'delete-pod', pod }));
}

function run(sandbox: Sandbox, pods: readonly Pod[]): Plan {
  const backing: Backing = backingOf(pods, sandbox, true);
  switch (backing.type) {
    case 'absent':
      return create(sandbox);
    case 'owned':
      return { actions: keep(sandbox, backing.pod) };
    case 'not-ours':
      return takeOver(sandbox, backing.pod);
    case 'several':
    case 'unknown':
      return { actions: [] }; // any choice could end the wrong one; pod events bring us back
  }
}

function create(sandbox: Sandbox): Plan {
  const trouble = troubleWith('InvalidConfiguration', misconfiguration(sandbox));
  if (trouble || unserved(sandbox)) return { actions: pointer(sandbox, null), trouble };
  const pod = desiredPod(sandbox);
  return { actions: [{ type: 'create-pod', pod }, ...pointer(sandbox, sandbox.metadata.name)] };
}

function keep(sandbox: Sandbox, pod: Pod): Action[] {
  if (isTerminating(pod)) return []; // it still holds its place; its end brings us back
  const drift = metadataDrift(sandbox, pod);
  return [
    ...(drift ? [{ type: 'patch-pod', pod, patch: { metadata: drift } } as const] : []),
    ...pointer(sandbox, pod.metadata.name),
  ];
}

/**
 * The hash in the tracking label is public, so the label alone does not authorise a take-over: only the adoptable
 * label, which somebody who may write the pod has to set, does.
 */
function takeOver(sandbox: Sandbox, pod: Pod): Plan {
  const owner = controllerOf(pod);
  const what = `pod ${keyText(keyOf(pod))}`;
  if (owner) {
    const message = `${what} is owned by ${owner.kind} ${owner.name} (${owner.uid})`;
    return {
      actions: pointer(sandbox, null),
      trouble: troubleWith('ReconcilerError', message),
      isBlocked: true,
    };
  }
  if (pod.metadata.labels?.[adoptableLabel] !== 'true' || isTerminating(pod)) {
    const message = `${what} exists without an owner and is not offered for adoption`;
    return { actions: [], trouble: troubleWith('ReconcilerError', message), isBlocked: true };
  }
  return {
    actions: [
      { type: 'adopt-pod', pod, patch: adoption(sandbox, pod) },
      ...pointer(sandbox, pod.metadata.name),
    ],
  };
}

function troubleWith(reason: Trouble['reason'], message: string | undefined): Trouble | undefined {
  return message === undefined ? undefined : { reason, message };
}

/** Owner and metadata in one write, refused by the server if anybody changed the pod meanwhile. */
function adoption(sandbox: Sandbox, pod: Pod): object {
  const { resourceVersion, uid, ownerReferences = [] } = pod.metadata;
  return {
    metadata: {
      ...metadataDrift(sandbox, pod),
      uid,
      resourceVersion,
      ownerReferences: [...ownerReferences, ownerReference(sandbox)],
    },
  };
}

/** Makes the annotation lead to the pod of this name, with the fewest writes; null: to no pod at all. */
function pointer(sandbox: Sandbox, podName: string | null): Action[] {
  const found = sandbox.metadata.annotations?.[podNameAnnotation];
  if (found === undefined || found === podName) {
    const isNeeded = found === undefined && podName !== null && podName !== sandbox.metadata.name;
    return isNeeded ? [{ type: 'point-to-pod', podName }] : [];
  }
  return [{ type: 'point-to-pod', podName: podName === sandbox.metadata.name ? null : podName }];
}
