import { ignoring } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import { isTerminating, type KubeObject, keyOf, pods, type Resource, resourceText } from '@hutch/kube-meta';
import type { FollowedKinds } from '../followed-kinds.ts';

/** Deletes under way at once; the events of these bring the caller back for the rest. */
const deletesAtOnce = 100;

export interface Left {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Everything that lives in namespaces, over all kinds the home follows. */
export class NamespaceContents {
  readonly #client: KubeClient;
  readonly #kinds: FollowedKinds;

  constructor(client: KubeClient, kinds: FollowedKinds) {
    this.#client = client;
    this.#kinds = kinds;
  }

  /** What our copies show. */
  list(namespace: string): readonly Left[] {
    return this.#kinds
      .list()
      .flatMap(({ resource, list }) => list(namespace).map((object) => ({ resource, object })));
  }

  /**
   * Deletes some of it and says how many. Pods go first, and all of them: what protects or feeds them (policies,
   * volumes, secrets) must not go while they still run.
   */
  async delete(left: readonly Left[], signal: AbortSignal): Promise<number> {
    const running = left.filter(({ resource }) => resourceText(resource) === resourceText(pods));
    const turn = running.length > 0 ? running : left;
    const next = turn.filter(({ object }) => !isTerminating(object)).slice(0, deletesAtOnce);
    await Promise.all(
      next.map(async ({ resource, object }) => {
        const options = { uid: object.metadata.uid, propagationPolicy: 'Background', signal } as const;
        const deleted = this.#client.delete(resource, keyOf(object), options);
        await ignoring('not-found', ignoring('conflict', deleted)); // gone, or a namesake we hear of soon
      }),
    );
    return next.length;
  }

  /** Our copies may be behind, so the server has the last word. */
  async isEmpty(namespace: string, signal: AbortSignal): Promise<boolean> {
    for (const { resource } of this.#kinds.list().filter(({ resource }) => resource.namespaced)) {
      const list = await ignoring('not-found', this.#client.list(resource, { namespace, limit: 1, signal }));
      if (list && list.items.length > 0) return false;
    }
    return true;
  }
}
