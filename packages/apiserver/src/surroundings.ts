/** What a kind may see of the other objects while it decides on a write, and the names it may hold until it is done. */
import type { Clock } from '@hutch/base';
import type { Storage } from '@hutch/storage';
import { type ApiObject, type Around, storagePrefix } from './kinds/kind.ts';

export interface SurroundingsDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Names held by writes that are not durable yet: reads do not see these writes. */
  readonly reserved: Set<string>;
}

/** Of one write. What it reserved is let go when it is disposed of: by then others see the write, or it has failed. */
export function surroundingsOf({ storage, clock, reserved }: SurroundingsDeps): Around & Disposable {
  const held: string[] = [];
  return {
    now: clock.now(),
    get: (resource, { namespace, name }) => {
      const scope = resource.namespaced ? namespace : undefined;
      return storage.get(storagePrefix({ resource }, scope) + name)?.value as ApiObject | undefined;
    },
    list: (resource, namespace) =>
      storage.list(storagePrefix({ resource }, namespace)).entries.map(({ value }) => value as ApiObject),
    reserve(name) {
      if (reserved.has(name)) return false;
      reserved.add(name);
      held.push(name);
      return true;
    },
    [Symbol.dispose]() {
      for (const name of held) reserved.delete(name);
    },
  };
}
