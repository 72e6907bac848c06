import { ignoring } from '@hutch/base';
import type { Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import type { KubeObject, ObjectKey, OwnerReference, Resource } from '@hutch/kube-meta';
import { isWaitingForDependants, type OwnerState } from './decide.ts';

/** An object and the copy it was found in. */
export interface Found {
  readonly informer: Informer<KubeObject>;
  readonly object: KubeObject;
}

/** Who owns whom, over all kinds the home follows. */
export class OwnerGraph {
  readonly #client: KubeClient;
  readonly #informers: readonly Informer<KubeObject>[];

  constructor(client: KubeClient, informers: readonly Informer<KubeObject>[]) {
    this.#client = client;
    this.#informers = informers;
  }

  dependantsOf({ metadata }: KubeObject): readonly Found[] {
    return this.#find('owner', metadata.uid);
  }

  /** As the server shows them now: for decisions that a copy which is behind would spoil for good. */
  async fetchDependantsOf({ metadata }: KubeObject, signal: AbortSignal): Promise<readonly Found[]> {
    const within = this.#informers.filter(({ resource }) => resource.namespaced || !metadata.namespace);
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

  /**
   * An owner our copies do not show may be new, or of a kind that nobody here follows. So the server is
   * asked before anything is deleted, and a kind we do not know is taken to be there.
   */
  async stateOf(owner: OwnerReference, dependant: KubeObject, signal: AbortSignal): Promise<OwnerState> {
    const { namespace } = dependant.metadata;
    const [shown] = this.#find('uid', owner.uid).filter(
      ({ object }) => object.metadata.namespace === undefined || object.metadata.namespace === namespace,
    );
    if (shown) return presence(shown.object);

    const resource = this.#resourceOf(owner);
    const key = resource && ownerKey(resource, owner, namespace);
    if (!resource || !key) return 'present';
    const live = await ignoring('not-found', this.#client.get(resource, key, { signal }));
    return live?.metadata.uid === owner.uid ? presence(live) : 'absent';
  }

  #find(index: 'uid' | 'owner', value: string): readonly Found[] {
    return this.#informers.flatMap((informer) =>
      informer.byIndex(index, value).map((object) => ({ informer, object })),
    );
  }

  /** The version does not matter: an owner may be named by any version it was ever served in. */
  #resourceOf({ apiVersion, kind }: OwnerReference): Resource | undefined {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const known = this.#informers.map(({ resource }) => resource);
    return known.find((resource) => resource.group === group && resource.kind === kind);
  }
}

/** Undefined when the reference makes no sense: an object outside namespaces cannot have an owner inside one. */
function ownerKey(resource: Resource, { name }: OwnerReference, namespace?: string): ObjectKey | undefined {
  if (!resource.namespaced) return { name };
  return namespace === undefined ? undefined : { namespace, name };
}

function presence(owner: KubeObject): OwnerState {
  return isWaitingForDependants(owner) ? 'waiting' : 'present';
}
