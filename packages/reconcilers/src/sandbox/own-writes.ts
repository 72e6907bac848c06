/**
 * Bridges the moment between a write of ours and the cache's hearing of it. Without it a pass that follows at once
 * would compute from the old status, and write the same status a second time.
 *
 * No order of resource versions is assumed: the answer of a write stands in for exactly those versions it was built
 * on, and is dropped as soon as the cache shows any other.
 */
import { type KubeObject, keyOf, keyText, type ObjectKey } from '@hutch/kube-meta';

export class OwnWrites<T extends KubeObject> {
  readonly #newest = new Map<string, { readonly supersedes: ReadonlySet<string>; readonly object: T }>();

  /** The object as we know it, given what the cache shows. */
  newest(key: ObjectKey, cached: T | undefined): T | undefined {
    const own = this.#newest.get(keyText(key));
    if (!own) return cached;
    if (cached && own.supersedes.has(cached.metadata.resourceVersion)) return own.object;
    this.#newest.delete(keyText(key));
    return cached;
  }

  /** `after` is what the server made of `before` at our request. */
  record(before: T, after: T): void {
    const text = keyText(keyOf(before));
    const own = this.#newest.get(text);
    const earlier =
      own?.object.metadata.resourceVersion === before.metadata.resourceVersion ? own.supersedes : [];
    const supersedes = new Set([...earlier, before.metadata.resourceVersion]);
    supersedes.delete(after.metadata.resourceVersion); // a write that changed nothing
    this.#newest.set(text, { supersedes, object: after });
  }

  forget(key: ObjectKey): void {
    this.#newest.delete(keyText(key));
  }
}
