/**
 * Which kinds are served. The stored definitions are the registry: they are looked up when a request comes, so a
 * custom kind is served from the moment its definition is durable, and there is no copy that could lag behind.
 */
import { customResourceDefinitions } from '@hutch/kube-meta';
import type { Storage } from '@hutch/storage';
import type { CallWebhook } from './custom/conversion.ts';
import { kindsOf } from './custom/kinds.ts';
import { type ApiObject, type Kind, storageKey, storagePrefix } from './kind.ts';

export interface Registry {
  find(at: { group: string; version: string; plural: string }): Kind | undefined;
  /** Every kind, in every version it is served in. */
  all(): Kind[];
  /** Whether a path is, or would be, in a group with built-in kinds. What is not there is told differently there. */
  isNearBuiltin(path: string): boolean;
}

export function createRegistry(
  storage: Storage,
  builtin: readonly Kind[],
  callWebhook?: CallWebhook,
): Registry {
  const byPath = new Map(builtin.map((kind) => [pathText(kind.resource), kind]));
  const definitions = byPath.get(pathText(customResourceDefinitions));

  return {
    find(at) {
      const known = byPath.get(pathText(at));
      if (known || !definitions) return known;
      const stored = storage.get(storageKey(definitions, { name: `${at.plural}.${at.group}` }));
      if (!stored) return undefined;
      // All three are compared: `a.b` in group `c` has the same definition's name as `a` in group `b.c`, and
      // access was decided on what the path said.
      return kindsOf(stored.value as ApiObject, callWebhook).find(
        ({ resource }) => pathText(resource) === pathText(at),
      );
    },
    isNearBuiltin(path) {
      const [, root, group] = path.split('/');
      return root === 'api' || (root === 'apis' && builtin.some(({ resource }) => resource.group === group));
    },
    all() {
      const stored = definitions ? storage.list(storagePrefix(definitions)).entries : [];
      return [...builtin, ...stored.flatMap(({ value }) => kindsOf(value as ApiObject, callWebhook))];
    },
  };
}

function pathText({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group}/${version}/${plural}`;
}
