import { jsonEquals, type ObjectMeta } from '@hutch/kube-meta';
import { omit } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';

/** What a write makes of an object. A kept one is as it was; a deleted one is shown for the last time. */
export interface Change {
  readonly type: 'put' | 'delete' | 'keep';
  readonly object: ApiObject;
  /** What the caller is shown as it is, where that is not what is stored or seen for the last time. */
  readonly answer?: ApiObject;
}

export function withMetadata(object: ApiObject, change: Partial<ObjectMeta>): ApiObject {
  return { ...object, metadata: { ...object.metadata, ...change } };
}

/** Puts an object if it differs from what is stored. */
export function putIfChanged(object: ApiObject, old: ApiObject): Change {
  return jsonEquals(object, old) ? { type: 'keep', object: old } : { type: 'put', object };
}

/** One more generation when what the user wants has changed. */
export function countGeneration(object: ApiObject, old: ApiObject, kind: Kind): ApiObject {
  if (!kind.hasGeneration) return object;
  const ownStatus = kind.subresources.includes('status') ? ['status'] : [];
  const wanted = (of: ApiObject) => omit(of, 'metadata', ...ownStatus);
  if (jsonEquals(wanted(object), wanted(old))) return object;
  return withMetadata(object, { generation: (old.metadata.generation ?? 0) + 1 });
}

/** Nothing holds an object that is on its way out: it goes with this write. */
export function isReleased(object: ApiObject, kind: Kind): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0) return false;
  return finalizers.length === 0 && !kind.isHeld?.(object);
}
