import { ignoring } from '@hutch/base';
import type { Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { isTerminating, type KubeObject, keyOf } from '@hutch/kube-meta';

/** Deletes under way at once; the events of these bring the caller back for the rest. */
const deletesAtOnce = 100;

/** Everything that lives in namespaces, over all kinds the home follows. */
export class NamespaceContents {
  readonly #client: KubeClient;
  readonly #informers: readonly Informer<KubeObject>[];

  constructor(client: KubeClient, informers: readonly Informer<KubeObject>[]) {
    this.#client = client;
    this.#informers = informers;
  }

  /** Returns how many objects our copies still show. */
  async delete(namespace: string, signal: AbortSignal): Promise<number> {
    const left = this.#informers.flatMap(({ resource, list }) =>
      list(namespace).map((object) => ({ resource, object })),
    );
    const next = left.filter(({ object }) => !isTerminating(object)).slice(0, deletesAtOnce);
    await Promise.all(
      next.map(async ({ resource, object }) => {
        const options = { uid: object.metadata.uid, propagationPolicy: 'Background', signal } as const;
        const deleted = this.#client.delete(resource, keyOf(object), options);
        await ignoring('not-found', ignoring('conflict', deleted)); // gone, or a namesake we hear of soon
      }),
    );
    return left.length;
  }

  /** Our copies may be behind, so the server has the last word. */
  async isEmpty(namespace: string, signal: AbortSignal): Promise<boolean> {
    for (const { resource } of this.#informers) {
      const list = await ignoring('not-found', this.#client.list(resource, { namespace, limit: 1, signal }));
      if (list && list.items.length > 0) return false;
    }
    return true;
  }
}
