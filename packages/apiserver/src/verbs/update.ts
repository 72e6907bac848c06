/** What an update (whole, patched, or of the status) makes of a stored object. Pure. */
import { conflict, invalid, namespaceFinalizer } from '@hutch/kube-meta';
import type { AskedObject } from '../decode.ts';
import { isObject, omit } from '../json.ts';
import { type ApiObject, type Around, hasStatus, type Kind } from '../kinds/kind.ts';
import { immutableMetadataProblems, metadataProblems, updatedMetadata } from '../metadata.ts';
import { invalidValue } from '../problems.ts';
import { unexplained } from '../refusals.ts';
import { type Change, countGeneration, isReleased, putIfChanged } from './change.ts';
import { scaleProblems } from './scale.ts';

export interface Update {
  readonly asked: AskedObject;
  readonly subresource: string | undefined;
  /** What a patch leaves of the identity is compared, not demanded: its sender may never have seen it. */
  readonly isPatch: boolean;
  readonly around: Around;
}

export function updateObject(old: ApiObject, kind: Kind, update: Update): Change {
  const { asked, subresource, isPatch, around } = update;
  const { resource } = kind;
  const { name } = old.metadata;
  checkPreconditions(old, kind, { asked, isPatch });

  const wanted = subresource === 'status' ? withNewStatus(asked, old, kind) : withOldStatus(asked, old, kind);
  const normalised = kind.normalise({ ...wanted, metadata: updatedMetadata(wanted.metadata, old.metadata) });
  const isOwnUpdate = subresource === undefined;
  const derived =
    isOwnUpdate && kind.prepareUpdate ? kind.prepareUpdate(normalised, old, around) : normalised;

  const problems = [
    ...immutableMetadataProblems(asked.metadata, old.metadata),
    ...metadataProblems(derived, kind, old),
    ...kind.validate(derived, old),
    ...scaleProblems(derived, kind),
  ];
  if (problems.length > 0) throw invalid(resource, name, problems);

  // The last holder let go: what watchers see leave is what was there.
  if (isReleased(derived, kind)) return { type: 'delete', object: old, answer: derived };
  return putIfChanged(countGeneration(derived, old, kind), old);
}

function checkPreconditions(
  old: ApiObject,
  kind: Kind,
  { asked: { metadata }, isPatch }: Pick<Update, 'asked' | 'isPatch'>,
): void {
  const { resource } = kind;
  const { name, uid, resourceVersion } = old.metadata;
  if (!isPatch && metadata.uid !== undefined && metadata.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`;
    const key = registryKey(old, kind);
    const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
    throw conflict(resource, name, error);
  }
  if (metadata.resourceVersion === undefined || /^0+$/.test(metadata.resourceVersion)) {
    if (kind.allowsUnconditionalUpdate) return;
    // The one refusal that names the resource where others name the kind.
    throw invalid({ ...resource, kind: resource.plural }, name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (!/^\d+$/.test(metadata.resourceVersion)) {
    throw unexplained(
      500,
      `strconv.ParseUint: parsing ${JSON.stringify(metadata.resourceVersion)}: invalid syntax`,
    );
  }
  if (metadata.resourceVersion !== resourceVersion) {
    const why = 'the object has been modified; please apply your changes to the latest version and try again';
    throw conflict(resource, name, why);
  }
}

/** Where Kubernetes would keep an object: clients have come to see it in this one refusal. */
function registryKey({ metadata }: ApiObject, { resource, isCustom = false }: Kind): string {
  const { group, plural } = resource;
  const root =
    isCustom || group === 'apiextensions.k8s.io' ? `${group}/${plural}` : (oddRoots[plural] ?? plural);
  const scope = metadata.namespace === undefined ? '' : `/${metadata.namespace}`;
  return `/registry/${root}${scope}/${metadata.name}`;
}

const oddRoots: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
};

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
  checkPreconditions(old, kind, { asked, isPatch: false });
  const finalizers =
    isObject(asked.spec) && Array.isArray(asked.spec.finalizers) ? asked.spec.finalizers : [];
  const object: ApiObject = { ...old, spec: { ...(isObject(old.spec) ? old.spec : {}), finalizers } };
  const problems = finalizers.flatMap((finalizer: unknown, at: number) => {
    const isNamed =
      finalizer === namespaceFinalizer || (typeof finalizer === 'string' && finalizer.includes('/'));
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return isNamed ? [] : [invalidValue(`spec.finalizers[${at}]`, finalizer, detail)];
  });
  if (problems.length > 0) throw invalid(kind.resource, old.metadata.name, problems);
  if (isReleased(object, kind)) return { type: 'delete', object: old, answer: object };
  return putIfChanged(object, old);
}
