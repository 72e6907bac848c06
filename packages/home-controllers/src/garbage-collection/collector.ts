import { ignoring, type Log, unreachable } from '@hutch/base';
import type { EventRecorder } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { type KubeObject, keyOf, type OwnerReference, resourceText } from '@hutch/kube-meta';
import {
  decide,
  foregroundFinalizer,
  isBlocking,
  type OwnerState,
  orphanFinalizer,
  type Verdict,
} from './decide.ts';
import { hasFinalizer, removingFinalizer } from './finalizers.ts';
import type { Found, OwnerGraph } from './owner-graph.ts';

interface Context {
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface CollectorDeps {
  readonly client: KubeClient;
  readonly graph: OwnerGraph;
  readonly events: EventRecorder;
}

/** Performs what is decided about one object. Conflicts that a later event will settle are passed over. */
export class Collector {
  readonly #client: KubeClient;
  readonly #graph: OwnerGraph;
  readonly #events: EventRecorder;

  constructor({ client, graph, events }: CollectorDeps) {
    this.#client = client;
    this.#graph = graph;
    this.#events = events;
  }

  async judgeDependant(found: Found, { signal, log }: Context): Promise<void> {
    const { informer, object } = found;
    const states = await this.#ownerStates(object, signal);
    this.#tellStrayOwners(object);
    const verdict = decide({
      object,
      stateOf: (owner) => states.get(owner) ?? 'unknown',
      dependants: this.#graph.dependantsOf(object).map((each) => each.object),
    });
    switch (verdict.type) {
      case 'keep':
        return;
      case 'release':
        await this.#writeOwners(found, verdict.ownerReferences, signal);
        return;
      case 'delete':
        log.debug('deleting an object without owner', { resource: resourceText(informer.resource) });
        return await this.#delete(found, verdict, signal);
      default:
        return unreachable(verdict);
    }
  }

  async finishOwner(owner: Found, signal: AbortSignal): Promise<void> {
    if (hasFinalizer(owner.object, orphanFinalizer)) await this.#orphanDependants(owner, signal);
    else if (hasFinalizer(owner.object, foregroundFinalizer)) await this.#endForeground(owner, signal);
  }

  async #delete(found: Found, verdict: Verdict & { type: 'delete' }, signal: AbortSignal): Promise<void> {
    const object = verdict.breaksCycle ? await this.#unblockOwners(found, signal) : found.object;
    if (!object) return;
    const { uid, resourceVersion } = object.metadata;
    const { propagationPolicy } = verdict;
    const options = { uid, resourceVersion, propagationPolicy, signal };
    const deleted = this.#client.delete(found.informer.resource, keyOf(object), options);
    // A conflict says that it changed: that change's event brings us back to look again.
    await ignoring('not-found', ignoring('conflict', deleted));
  }

  async #unblockOwners(found: Found, signal: AbortSignal): Promise<KubeObject | undefined> {
    const owners = found.object.metadata.ownerReferences ?? [];
    if (owners.every(({ blockOwnerDeletion }) => blockOwnerDeletion !== true)) return found.object;
    const unblocked = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    return await this.#writeOwners(found, unblocked, signal);
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

  async #ownerStates(
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<OwnerReference, OwnerState>> {
    const states = new Map<OwnerReference, OwnerState>();
    for (const owner of object.metadata.ownerReferences ?? []) {
      states.set(owner, await this.#graph.stateOf(owner, object, signal));
    }
    return states;
  }

  /** People expect that to work; the object disappears, and this says why. */
  #tellStrayOwners(object: KubeObject): void {
    const { namespace } = object.metadata;
    for (const { apiVersion, kind, name, uid } of object.metadata.ownerReferences ?? []) {
      const shown = this.#graph.find(uid)?.object.metadata;
      if (!shown || shown.namespace === undefined || shown.namespace === namespace) continue;
      const owner = `[${apiVersion}/${kind}, namespace: ${namespace ?? ''}, name: ${name}, uid: ${uid}]`;
      const message = `ownerRef ${owner} does not exist in namespace "${namespace ?? ''}"`;
      this.#events.record(object, { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message });
    }
  }

  async #writeOwners(
    { informer, object }: Found,
    owners: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { resourceVersion } = object.metadata;
    const patch = { metadata: { resourceVersion, ownerReferences: owners.length > 0 ? owners : null } };
    return await ignoring(
      'not-found',
      this.#client.patch(informer.resource, keyOf(object), patch, { signal }),
    );
  }

  async #removeFinalizer({ informer, object }: Found, finalizer: string, signal: AbortSignal): Promise<void> {
    const patch = removingFinalizer(object, finalizer);
    await ignoring('not-found', this.#client.patch(informer.resource, keyOf(object), patch, { signal }));
  }
}
