/**
 * The life of namespaces: a namespace that is deleted is emptied first, then let go.
 *
 * Flow: the API server gives every namespace Kubernetes' own content finalizer and marks it when it is
 * deleted. From then on everything in it is deleted, pods first; each deletion's event brings us back, and
 * when the server itself shows nothing any more we take the finalizer off through the `finalize` subresource.
 * While something stays that was told to go, the namespace's conditions say what.
 */
import { type Clock, ignoring, type Log } from '@hutch/base';
import type { Informer, Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { isTerminating, type Namespace, namespaces } from '@hutch/kube-meta';
import type { FollowedKinds } from '../followed-kinds.ts';
import { runWoken, type Wake } from '../woken-controller.ts';
import { desiredConditions, type NamespaceCondition } from './conditions.ts';
import { type Left, NamespaceContents } from './contents.ts';

const contentFinalizer = 'kubernetes';

/** A namespace with what holds it: these finalizers are apart from those of its metadata. */
export interface HeldNamespace extends Namespace {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: NonNullable<Namespace['status']> & {
    readonly conditions?: readonly NamespaceCondition[];
  };
}

export interface NamespaceDeps {
  readonly client: KubeClient;
  readonly namespaces: Informer<HeldNamespace>;
  /** Every kind a namespace may hold. */
  readonly kinds: FollowedKinds;
  readonly clock: Clock;
  readonly log: Log;
}

/** How soon to look again at what the server shows and we do not: normally its event comes far earlier. */
const behindMs = 1_000;

export async function runNamespaces(deps: NamespaceDeps, signal: AbortSignal): Promise<void> {
  const isGoing = (name: string) => {
    const namespace = deps.namespaces.get({ name });
    return namespace !== undefined && isTerminating(namespace);
  };
  const wake: Wake = (lookAt) =>
    deps.kinds.onChange(({ object: { metadata } }, { resource }) => {
      const name = resource.namespaced ? metadata.namespace : metadata.name;
      if (name !== undefined && isGoing(name)) lookAt({ name });
    });
  const reconcile = namespaceReconciler(deps);
  await runWoken({ ...deps, name: 'namespaces', wakes: [wake], reconcile }, signal);
}

function namespaceReconciler({ client, namespaces: known, kinds, clock }: NamespaceDeps): Reconcile {
  const contents = new NamespaceContents(client, kinds);

  async function tellWhatStays(namespace: HeldNamespace, left: readonly Left[], signal: AbortSignal) {
    const conditions = desiredConditions(namespace.status?.conditions ?? [], left, clock.now());
    if (!conditions) return;
    const told = { ...namespace, status: { ...namespace.status, conditions } };
    await ignoring('not-found', client.update(namespaces, told, { subresource: 'status', signal }));
  }

  return async ({ name }, { signal }) => {
    const namespace = known.get({ name });
    const finalizers = namespace?.spec?.finalizers ?? [];
    if (!namespace || !isTerminating(namespace) || !finalizers.includes(contentFinalizer)) return {};

    const left = contents.list(name);
    const deleted = await contents.delete(left, signal);
    if (deleted === 0 && left.length > 0) await tellWhatStays(namespace, left, signal);
    if (left.length > 0) return {};
    if (!(await contents.isEmpty(name, signal))) return { requeueAfterMs: behindMs };
    const others = finalizers.filter((finalizer) => finalizer !== contentFinalizer);
    const released = { ...namespace, spec: { finalizers: others } };
    await ignoring('not-found', client.update(namespaces, released, { subresource: 'finalize', signal }));
    return {};
  };
}
