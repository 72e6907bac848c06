/** What an update (whole, patched, or of the status) makes of a stored object. Pure. */
import { conflict, invalid } from '@hutch/kube-meta';
import type { AskedObject } from '../decode.ts';
import { isObject, omit } from '../json.ts';
import { type ApiObject, hasStatus, type Kind } from '../kinds/kind.ts';
import { immutableMetadataProblems, metadataProblems, updatedMetadata } from '../metadata.ts';
import { invalidValue } from '../problems.ts';
import { type Change, countGeneration, isReleased, putIfChanged } from './change.ts';

export interface Update {
  readonly asked: AskedObject;
  readonly subresource: string | undefined;
  readonly now: Date;
}

export function updateObject(old: ApiObject, kind: Kind, { asked, subresource, now }: Update): Change {
  const { resource } = kind;
  const { name } = old.metadata;
  checkPreconditions(old, kind, asked);

  const wanted = subresource === 'status' ? withNewStatus(asked, old, kind) : withOldStatus(asked, old, kind);
  const normalised = kind.normalise({ ...wanted, metadata: updatedMetadata(wanted.metadata, old.metadata) });
  const isOwnUpdate = subresource === undefined;
  const derived = isOwnUpdate && kind.prepareUpdate ? kind.prepareUpdate(normalised, old, now) : normalised;

  const problems = [
    ...immutableMetadataProblems(asked.metadata, old.metadata),
    ...metadataProblems(derived, kind, old),
    ...kind.validate(derived, old),
  ];
  if (problems.length > 0) throw invalid(resource, name, problems);

  // The last holder let go: what watchers see leave is what was there.
  if (isReleased(derived, kind)) return { type: 'delete', object: old };
  return putIfChanged(countGeneration(derived, old, kind), old);
}

function checkPreconditions(old: ApiObject, kind: Kind, { metadata }: AskedObject): void {
  const { resource } = kind;
  const { name, uid, resourceVersion } = old.metadata;
  if (metadata.uid !== undefined && metadata.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`;
    throw conflict(resource, name, why);
  }
  if (metadata.resourceVersion === undefined) {
    if (kind.allowsUnconditionalUpdate) return;
    throw invalid(resource, name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (metadata.resourceVersion !== resourceVersion) {
    const why = 'the object has been modified; please apply your changes to the latest version and try again';
    throw conflict(resource, name, why);
  }
}

/** A status write leaves everything else as it was. */
function withNewStatus(asked: AskedObject, old: ApiObject, kind: Kind): AskedObject {
  const status = asked.status === undefined ? {} : { status: asked.status };
  if (!kind.statusWritesMetadata) return { ...omit(old, 'status'), ...status };
  const { ownerReferences } = old.metadata;
  const metadata = {
    ...omit(asked.metadata, 'ownerReferences'),
    ...(ownerReferences ? { ownerReferences } : {}),
  };
  return { ...omit(old, 'status'), metadata, ...status };
}

/** Any other write leaves the status as it was, where the status has a door of its own. */
function withOldStatus(asked: AskedObject, old: ApiObject, kind: Kind): AskedObject {
  if (!hasStatus(kind)) return asked;
  return { ...omit(asked, 'status'), ...(old.status === undefined ? {} : { status: old.status }) };
}

/** The one change a namespace's spec can see: who empties it lets go of it. */
export function finalizeNamespace(old: ApiObject, kind: Kind, asked: AskedObject): Change {
  checkPreconditions(old, kind, asked);
  const finalizers =
    isObject(asked.spec) && Array.isArray(asked.spec.finalizers) ? asked.spec.finalizers : [];
  const object: ApiObject = { ...old, spec: { ...(isObject(old.spec) ? old.spec : {}), finalizers } };
  if (isReleased(object, kind)) return { type: 'delete', object: old };
  return putIfChanged(object, old);
}
