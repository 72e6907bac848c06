/** Which volume suits a claim. No await, no clock, no client. */
import {
  compareQuantities,
  isTerminating,
  type KubeObject,
  labelSelectorOf,
  matchesLabels,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@hutch/kube-meta';
import { matchesNode, type NodeMeta } from '../node-selector.ts';

/** Kubernetes' own marks. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller';
export const bindCompleted = 'pv.kubernetes.io/bind-completed';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
export const selectedNode = 'volume.kubernetes.io/selected-node';
/** Before there was a field for it. It still wins. */
const oldClass = 'volume.beta.kubernetes.io/storage-class';

export function hasMark({ metadata }: KubeObject, key: string): boolean {
  return metadata.annotations?.[key] !== undefined;
}

/** Empty: no class at all, which is a choice of its own. */
export function classNameOf({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string {
  return metadata.annotations?.[oldClass] ?? spec.storageClassName ?? '';
}

/** Without one the default class is meant. */
export function namesClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[oldClass] !== undefined || spec.storageClassName !== undefined;
}

/** The claim waits until it is known where its pod runs. */
export function waitsForConsumer(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

export function isBoundTo({ spec: { claimRef } }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { namespace, name, uid } = claim.metadata;
  if (!claimRef || claimRef.name !== name || claimRef.namespace !== namespace) return false;
  return !claimRef.uid || claimRef.uid === uid; // reserved by name, before the claim existed
}

export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  return Boolean(claim.spec.volumeName) && hasMark(claim, bindCompleted);
}

export function isOnNode({ spec }: PersistentVolume, node: NodeMeta): boolean {
  const required = spec.nodeAffinity?.required;
  return !required || matchesNode(required, node);
}

/** Why a volume that a claim asks for by name cannot be its. */
export function mismatchOf(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (isTerminating(volume)) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small';
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode';
}

export interface MatchOptions {
  /** Only what is reserved for the claim already: the rest waits for its pod. */
  readonly onlyReserved: boolean;
  /** Where the volume must be usable. */
  readonly node?: NodeMeta;
}

/** One that is reserved for the claim, or else the tightest fit: as few access modes and as little room as will do. */
export function bestMatch(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { onlyReserved, node }: MatchOptions,
): PersistentVolume | undefined {
  const suits = (volume: PersistentVolume) =>
    !isTerminating(volume) &&
    isLargeEnough(volume, claim) &&
    modeOf(volume) === modeOf(claim) &&
    hasAccessModes(volume, claim);
  const reserved = volumes.find((volume) => isBoundTo(volume, claim) && suits(volume));
  if (reserved) return !node || isOnNode(reserved, node) ? reserved : undefined;
  if (onlyReserved) return undefined;

  const selector = labelSelectorOf(claim.spec.selector);
  const isFree = ({ spec, status, metadata }: PersistentVolume) =>
    !spec.claimRef &&
    status?.phase === 'Available' &&
    (!selector || matchesLabels(selector, metadata.labels));
  const [best] = volumes
    .filter((volume) => isFree(volume) && suits(volume) && classNameOf(volume) === classNameOf(claim))
    .filter((volume) => !node || isOnNode(volume, node))
    .toSorted(tightestFirst);
  return best;
}

function tightestFirst(a: PersistentVolume, b: PersistentVolume): number {
  return (
    (a.spec.accessModes?.length ?? 0) - (b.spec.accessModes?.length ?? 0) ||
    compareQuantities(capacityOf(a), capacityOf(b)) ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

function isLargeEnough(volume: PersistentVolume, { spec }: PersistentVolumeClaim): boolean {
  return compareQuantities(capacityOf(volume), spec.resources?.requests?.storage ?? 0) >= 0;
}

function capacityOf({ spec }: PersistentVolume): string | number {
  return spec.capacity?.storage ?? 0;
}

function modeOf({ spec }: PersistentVolume | PersistentVolumeClaim): string {
  return spec.volumeMode ?? 'Filesystem';
}

function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered: readonly string[] = volume.spec.accessModes ?? [];
  return (claim.spec.accessModes ?? []).every((mode) => offered.includes(mode));
}
