/**
 * The life of namespaces: a namespace that is deleted is emptied first, then let go.
 *
 * Flow: the API server gives every namespace Kubernetes' own content finalizer and marks it when it is
 * deleted. From then on everything in it is deleted; each deletion's event brings us back, and when the
 * server itself shows nothing any more we take the finalizer off through the `finalize` subresource.
 */
import { type Clock, ignoring, type Log } from '@hutch/base';
import { type Informer, type Reconcile, runController, WorkQueue } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { isTerminating, type KubeObject, type Namespace, namespaces } from '@hutch/kube-meta';
import { NamespaceContents } from './contents.ts';

const contentFinalizer = 'kubernetes';

/** A namespace with what holds it: these finalizers are apart from those of its metadata. */
export interface HeldNamespace extends Namespace {
  readonly spec?: { readonly finalizers?: readonly string[] };
}

export interface NamespaceDeps {
  readonly client: KubeClient;
  readonly namespaces: Informer<HeldNamespace>;
  /** Every kind a namespace may hold. */
  readonly informers: readonly Informer<KubeObject>[];
  readonly clock: Clock;
  readonly log: Log;
}

/** How soon to look again at what the server shows and we do not: normally its event comes far earlier. */
const behindMs = 1_000;

export async function runNamespaces(deps: NamespaceDeps, signal: AbortSignal): Promise<void> {
  const queue = new WorkQueue({ clock: deps.clock });
  const informers = deps.informers.filter(({ resource }) => resource.namespaced);
  const lookAt = (name: string) => {
    const namespace = deps.namespaces.get({ name });
    if (namespace && isTerminating(namespace)) queue.add({ name });
  };
  const stops = [
    deps.namespaces.onChange(({ object }) => lookAt(object.metadata.name)),
    ...informers.map((each) => each.onChange(({ object }) => lookAt(object.metadata.namespace ?? ''))),
  ];
  try {
    const reconcile = namespaceReconciler({ ...deps, informers });
    await runController({ ...deps, name: 'namespaces', queue, workers: 2, reconcile }, signal);
  } finally {
    for (const stop of stops) stop();
  }
}

function namespaceReconciler({ client, namespaces: known, informers }: NamespaceDeps): Reconcile {
  const contents = new NamespaceContents(client, informers);
  return async ({ name }, { signal }) => {
    const namespace = known.get({ name });
    const finalizers = namespace?.spec?.finalizers ?? [];
    if (!namespace || !isTerminating(namespace) || !finalizers.includes(contentFinalizer)) return {};

    if ((await contents.delete(name, signal)) > 0) return {};
    if (!(await contents.isEmpty(name, signal))) return { requeueAfterMs: behindMs };
    const others = finalizers.filter((finalizer) => finalizer !== contentFinalizer);
    const released = { ...namespace, spec: { finalizers: others } };
    await ignoring('not-found', client.update(namespaces, released, { subresource: 'finalize', signal }));
    return {};
  };
}
