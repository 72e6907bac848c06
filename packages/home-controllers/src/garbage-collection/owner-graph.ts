import { ignoring } from '@hutch/base';
import type { Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  events,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
  type Resource,
  resourceText,
} from '@hutch/kube-meta';
import type { FollowedKinds } from '../followed-kinds.ts';
import { isWaitingForDependants, type OwnerState } from './decide.ts';

/** An object and the copy it was found in. */
export interface Found {
  readonly informer: Informer<KubeObject>;
  readonly object: KubeObject;
}

/** Who owns whom, over all kinds the home follows. */
export class OwnerGraph {
  readonly #client: KubeClient;
  readonly #kinds: FollowedKinds;

  constructor(client: KubeClient, kinds: FollowedKinds) {
    this.#client = client;
    this.#kinds = kinds;
  }

  /** The object of this uid, of whatever kind. */
  find(uid: string): Found | undefined {
    return this.#find('uid', uid)[0];
  }

  dependantsOf({ metadata }: KubeObject): readonly Found[] {
    return this.#find('owner', metadata.uid);
  }

  /** As the server shows them now: for decisions that a copy which is behind would spoil for good. */
  async fetchDependantsOf({ metadata }: KubeObject, signal: AbortSignal): Promise<readonly Found[]> {
    const within = this.#informers().filter(({ resource }) => resource.namespaced || !metadata.namespace);
    const lists = within.map(async (informer) => {
      const listed = this.#client.list(informer.resource, { namespace: metadata.namespace, signal });
      const items = (await ignoring('not-found', listed))?.items ?? []; // a kind no longer served has none
      const isOwned = (item: KubeObject) =>
        item.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
      return items.filter(isOwned).map((object) => ({ informer, object }));
    });
    return (await Promise.all(lists)).flat();
  }

  /** The owners our copies show. */
  ownersOf({ metadata }: KubeObject): readonly Found[] {
    return (metadata.ownerReferences ?? []).flatMap(({ uid }) => this.#find('uid', uid));
  }

  /** Everything that names an owner of this kind. */
  claimingOwnersOf({ group, kind }: Pick<Resource, 'group' | 'kind'>): readonly Found[] {
    const isMeant = (owner: OwnerReference) => owner.kind === kind && groupOf(owner) === group;
    return this.#informers().flatMap((informer) =>
      informer
        .list()
        .filter(({ metadata }) => metadata.ownerReferences?.some(isMeant))
        .map((object) => ({ informer, object })),
    );
  }

  /**
   * An owner is who the whole reference says: kind and name too, in the dependant's own namespace or outside
   * all. One our copies do not show may be new, so the server is asked before anything is deleted.
   */
  async stateOf(owner: OwnerReference, dependant: KubeObject, signal: AbortSignal): Promise<OwnerState> {
    const { namespace } = dependant.metadata;
    const resource = this.#resourceOf(owner);
    const key = resource && ownerKey(resource, owner, namespace);
    if (!resource || !key) return 'unknown';
    const [shown] = this.#find('uid', owner.uid);
    if (shown && isNamed(shown, resource, key)) return presence(shown.object);
    const live = await ignoring('not-found', this.#client.get(resource, key, { signal }));
    return live?.metadata.uid === owner.uid ? presence(live) : 'absent';
  }

  /** Events own nothing and are owned by nothing: there are too many of them, and they go by themselves. */
  #informers(): readonly Informer<KubeObject>[] {
    return this.#kinds.list().filter(({ resource }) => resourceText(resource) !== resourceText(events));
  }

  #find(index: 'uid' | 'owner', value: string): readonly Found[] {
    return this.#informers().flatMap((informer) =>
      informer.byIndex(index, value).map((object) => ({ informer, object })),
    );
  }

  /** The version does not matter: an owner may be named by any version it was ever served in. */
  #resourceOf(owner: OwnerReference): Resource | undefined {
    const known = this.#informers().map(({ resource }) => resource);
    return known.find(({ group, kind }) => group === groupOf(owner) && kind === owner.kind);
  }
}

function groupOf({ apiVersion }: OwnerReference): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function isNamed({ informer, object }: Found, resource: Resource, { namespace, name }: ObjectKey): boolean {
  const { metadata } = object;
  return informer.resource === resource && metadata.name === name && metadata.namespace === namespace;
}

/** Undefined when the reference makes no sense: an object outside namespaces cannot have an owner inside one. */
function ownerKey(resource: Resource, { name }: OwnerReference, namespace?: string): ObjectKey | undefined {
  if (!resource.namespaced) return { name };
  return namespace === undefined ? undefined : { namespace, name };
}

function presence(owner: KubeObject): OwnerState {
  return isWaitingForDependants(owner) ? 'waiting' : 'present';
}
