import { ignoring, type Log, unreachable } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { type KubeObject, keyOf, type OwnerReference, resourceText } from '@hutch/kube-meta';
import { decide, foregroundFinalizer, isBlocking, type OwnerState, orphanFinalizer } from './decide.ts';
import { hasFinalizer, removingFinalizer } from './finalizers.ts';
import type { Found, OwnerGraph } from './owner-graph.ts';

interface Context {
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Performs what is decided about one object. Conflicts that a later event will settle are passed over. */
export class Collector {
  readonly #client: KubeClient;
  readonly #graph: OwnerGraph;

  constructor(client: KubeClient, graph: OwnerGraph) {
    this.#client = client;
    this.#graph = graph;
  }

  async judgeDependant(found: Found, { signal, log }: Context): Promise<void> {
    const { informer, object } = found;
    const states = await this.#ownerStates(object, signal);
    const verdict = decide({
      object,
      stateOf: ({ uid }) => states.get(uid) ?? 'present',
      isOwner: this.#graph.dependantsOf(object).length > 0,
    });
    switch (verdict.type) {
      case 'keep':
        return;
      case 'release':
        return await this.#writeOwners(found, verdict.ownerReferences, signal);
      case 'delete': {
        log.debug('deleting an object without owner', { resource: resourceText(informer.resource) });
        const { uid, resourceVersion } = object.metadata;
        const options = { uid, resourceVersion, propagationPolicy: verdict.propagationPolicy, signal };
        const deleted = this.#client.delete(informer.resource, keyOf(object), options);
        // A conflict says that it changed: that change's event brings us back to look again.
        await ignoring('not-found', ignoring('conflict', deleted));
        return;
      }
      default:
        return unreachable(verdict);
    }
  }

  async finishOwner(owner: Found, signal: AbortSignal): Promise<void> {
    if (hasFinalizer(owner.object, orphanFinalizer)) await this.#orphanDependants(owner, signal);
    else if (hasFinalizer(owner.object, foregroundFinalizer)) await this.#endForeground(owner, signal);
  }

  async #orphanDependants(owner: Found, signal: AbortSignal): Promise<void> {
    const { uid } = owner.object.metadata;
    for (const dependant of await this.#graph.fetchDependantsOf(owner.object, signal)) {
      const owners = dependant.object.metadata.ownerReferences ?? [];
      const others = owners.filter((reference) => reference.uid !== uid);
      await this.#writeOwners(dependant, others, signal);
    }
    await this.#removeFinalizer(owner, orphanFinalizer, signal);
  }

  async #endForeground(owner: Found, signal: AbortSignal): Promise<void> {
    const blocks = ({ object }: Found) => isBlocking(object, owner.object.metadata.uid);
    if (this.#graph.dependantsOf(owner.object).some(blocks)) return; // their end brings us back
    if ((await this.#graph.fetchDependantsOf(owner.object, signal)).some(blocks)) return; // so does their appearance
    await this.#removeFinalizer(owner, foregroundFinalizer, signal);
  }

  async #ownerStates(object: KubeObject, signal: AbortSignal): Promise<ReadonlyMap<string, OwnerState>> {
    const states = new Map<string, OwnerState>();
    for (const owner of object.metadata.ownerReferences ?? []) {
      states.set(owner.uid, await this.#graph.stateOf(owner, object, signal));
    }
    return states;
  }

  async #writeOwners(
    { informer, object }: Found,
    owners: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<void> {
    const { resourceVersion } = object.metadata;
    const patch = { metadata: { resourceVersion, ownerReferences: owners.length > 0 ? owners : null } };
    await ignoring('not-found', this.#client.patch(informer.resource, keyOf(object), patch, { signal }));
  }

  async #removeFinalizer({ informer, object }: Found, finalizer: string, signal: AbortSignal): Promise<void> {
    const patch = removingFinalizer(object, finalizer);
    await ignoring('not-found', this.#client.patch(informer.resource, keyOf(object), patch, { signal }));
  }
}
