/** Which labels and annotations a sandbox gives its pod, and takes back when its template no longer names them. */
import {
  claimUidLabel,
  createdByLabel,
  extensionsGroup,
  isReservedAnnotation,
  isReservedLabel,
  knownCreators,
  nameHash,
  propagatedAnnotationsAnnotation,
  propagatedLabelsAnnotation,
  type Sandbox,
  templateRefHashLabel,
  trackingLabel,
  warmPoolLabel,
} from '@hutch/api';
import { controllerOf, type Pod, type StringMap } from '@hutch/kube-meta';

/** `null` takes a key away: the shape of a merge patch. */
type MapPatch = Readonly<Record<string, string | null>>;

export interface MetadataPatch {
  readonly labels?: MapPatch;
  readonly annotations?: MapPatch;
}

export interface PodMetadata {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** What a new pod carries. */
export function desiredMetadata(sandbox: Sandbox): PodMetadata {
  const { labels, annotations } = templateMetadata(sandbox);
  return {
    labels: { ...labels, ...present(controlledLabels(sandbox)) },
    annotations: { ...annotations, ...present(propagationRecord(labels, annotations)) },
  };
}

/** The one patch that brings an existing pod's metadata up to date, or nothing. Keys of others are not touched. */
export function metadataDrift(sandbox: Sandbox, pod: Pod): MetadataPatch | undefined {
  const { labels, annotations } = templateMetadata(sandbox);
  const had = pod.metadata;
  const recorded = had.annotations ?? {};
  const labelPatch = changes(had.labels ?? {}, {
    ...removals(recorded[propagatedLabelsAnnotation], isOwnLabel),
    ...labels,
    ...controlledLabels(sandbox),
  });
  const annotationPatch = changes(recorded, {
    ...removals(recorded[propagatedAnnotationsAnnotation], isOwnAnnotation),
    ...annotations,
    ...keepingEmpty(recorded, propagationRecord(labels, annotations)),
  });
  if (!labelPatch && !annotationPatch) return undefined;
  return {
    ...(labelPatch ? { labels: labelPatch } : {}),
    ...(annotationPatch ? { annotations: annotationPatch } : {}),
  };
}

/** The template's own keys, without those that only controllers may set. */
function templateMetadata(sandbox: Sandbox): PodMetadata {
  const { labels = {}, annotations = {} } = sandbox.spec.podTemplate.metadata ?? {};
  return {
    labels: without(labels, isReservedLabel),
    annotations: without(annotations, isReservedAnnotation),
  };
}

/** Labels that follow from what the sandbox is, never from its template; `null` where one must not be there. */
function controlledLabels(sandbox: Sandbox): MapPatch {
  const owner = controllerOf(sandbox);
  const ownerKind = owner?.apiVersion.startsWith(`${extensionsGroup}/`) ? owner.kind : undefined;
  const own = sandbox.metadata.labels ?? {};
  const creator = own[createdByLabel];
  return {
    [trackingLabel]: nameHash(sandbox.metadata.name),
    [warmPoolLabel]: (ownerKind === 'SandboxWarmPool' && own[warmPoolLabel]) || null,
    [templateRefHashLabel]: (ownerKind !== undefined && own[templateRefHashLabel]) || null,
    [claimUidLabel]: (ownerKind === 'SandboxClaim' && own[claimUidLabel]) || null,
    [createdByLabel]: creator ? (knownCreators.includes(creator) ? creator : 'unknown') : null,
  };
}

/** Says on the pod which keys came from the template. An empty list is no list. */
function propagationRecord(labels: StringMap, annotations: StringMap): MapPatch {
  return {
    [propagatedLabelsAnnotation]: Object.keys(labels).sort().join(',') || null,
    [propagatedAnnotationsAnnotation]: Object.keys(annotations).sort().join(',') || null,
  };
}

/** Another controller left an empty list behind: as good as none, and not worth a write. */
function keepingEmpty(recorded: StringMap, record: MapPatch): MapPatch {
  return Object.fromEntries(
    Object.entries(record).filter(([key, list]) => list !== null || recorded[key] !== ''),
  );
}

/** Reserved keys in an old record are taken back too (an older controller let them through), except these. */
const isOwnLabel = (key: string) => key === trackingLabel;
const isOwnAnnotation = (key: string) =>
  key === propagatedLabelsAnnotation || key === propagatedAnnotationsAnnotation;

function removals(record: string | undefined, isKept: (key: string) => boolean): MapPatch {
  const keys = (record ?? '').split(',').filter((key) => key !== '' && !isKept(key));
  return Object.fromEntries(keys.map((key) => [key, null]));
}

/** Only what differs: a value that is already there, or a key that is already gone, is no change. */
function changes(before: StringMap, wanted: MapPatch): MapPatch | undefined {
  const differing = Object.entries(wanted).filter(([key, value]) => (before[key] ?? null) !== value);
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}

function present(map: MapPatch): StringMap {
  return Object.fromEntries(
    Object.entries(map).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

function without(map: StringMap, isExcluded: (key: string) => boolean): StringMap {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isExcluded(key)));
}
