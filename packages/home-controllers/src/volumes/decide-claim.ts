/** What a claim needs next to get its volume. No await, no clock, no client. */
import type { EventNote } from '@hutch/controller';
import {
  isTerminating,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@hutch/kube-meta';
import {
  bestMatch,
  bindCompleted,
  classNameOf,
  hasMark,
  isBoundTo,
  mismatchOf,
  namesClass,
  selectedNode,
  waitsForConsumer,
} from './match.ts';

export interface ObservedClaim {
  readonly claim: PersistentVolumeClaim;
  readonly volumes: readonly PersistentVolume[];
  readonly storageClasses: readonly StorageClass[];
  /** Pods that use the claim and have no node yet, by name. */
  readonly waitingPods: readonly string[];
  /** What classes call the home's own provisioner, if it has one. */
  readonly provisioner: string | undefined;
}

export type ClaimAction =
  /** Ties both to each other, as far as they are not. */
  | { readonly type: 'bind'; readonly volume: PersistentVolume }
  | { readonly type: 'assign-class'; readonly className: string }
  | { readonly type: 'provision'; readonly storageClass: StorageClass }
  /** Somebody outside makes volumes of this class: tell them that one is wanted. */
  | { readonly type: 'call-provisioner'; readonly provisioner: string }
  | { readonly type: 'write-phase'; readonly phase: 'Pending' | 'Lost' }
  | { readonly type: 'tell'; readonly note: EventNote };

export function decideClaim(observed: ObservedClaim): readonly ClaimAction[] {
  const { claim } = observed;
  if (hasMark(claim, bindCompleted)) return decideBound(observed);
  if (isTerminating(claim)) return [];
  return claim.spec.volumeName ? decideNamed(observed) : decideUnbound(observed);
}

/** It had a volume once; without that volume its data are lost, and no other volume brings them back. */
function decideBound({ claim, volumes }: ObservedClaim): readonly ClaimAction[] {
  const { volumeName } = claim.spec;
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
  if (volume && (!volume.spec.claimRef || isBoundTo(volume, claim))) return [{ type: 'bind', volume }];
  if (claim.status?.phase === 'Lost') return [];
  const note = !volumeName
    ? warning('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
    : volume
      ? warning('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
      : warning('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  return [
    { type: 'write-phase', phase: 'Lost' },
    { type: 'tell', note },
  ];
}

function decideNamed({ claim, volumes }: ObservedClaim): readonly ClaimAction[] {
  const pending = pendingAction(claim);
  const volume = volumes.find(({ metadata }) => metadata.name === claim.spec.volumeName);
  if (!volume) return pending;
  const { name } = volume.metadata;
  if (isBoundTo(volume, claim)) return [{ type: 'bind', volume }];
  if (volume.spec.claimRef) {
    return [
      tell(warning('FailedBinding', `volume "${name}" already bound to a different claim.`)),
      ...pending,
    ];
  }
  const mismatch = mismatchOf(volume, claim);
  if (mismatch === undefined) return [{ type: 'bind', volume }];
  const message = `Cannot bind to requested volume "${name}": ${mismatch}`;
  return [tell(warning('VolumeMismatch', message)), ...pending];
}

function decideUnbound(observed: ObservedClaim): readonly ClaimAction[] {
  const { claim, volumes, storageClasses } = observed;
  const className = classNameOf(claim);
  const storageClass = storageClasses.find(({ metadata }) => metadata.name === className);
  const isDelayed = waitsForConsumer(storageClass);
  const volume = bestMatch(claim, volumes, { onlyReserved: isDelayed });
  if (volume) return [{ type: 'bind', volume }];

  const assigned = namesClass(claim) ? undefined : defaultClass(storageClasses);
  if (assigned) return [{ type: 'assign-class', className: assigned.metadata.name }];

  const pending = pendingAction(claim);
  if (isDelayed && !hasMark(claim, selectedNode)) return [tell(waitingNote(observed)), ...pending];
  if (storageClass) return [...provisioning(storageClass, observed), ...pending];
  const note = className
    ? warning('ProvisioningFailed', `storageclass.storage.k8s.io "${className}" not found`)
    : normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set');
  return [tell(note), ...pending];
}

function provisioning(storageClass: StorageClass, { provisioner }: ObservedClaim): readonly ClaimAction[] {
  const wanted = storageClass.provisioner;
  if (wanted === provisioner) return [{ type: 'provision', storageClass }];
  // Names of Kubernetes' own are of provisioners inside it, and there are none any more.
  if (wanted.startsWith('kubernetes.io/')) {
    return [tell(warning('ProvisioningFailed', `no volume plugin matched name: ${wanted}`))];
  }
  const message =
    `Waiting for a volume to be created either by the external provisioner '${wanted}' or manually by the ` +
    'system administrator. If volume creation is delayed, please verify that the provisioner is running and ' +
    'correctly registered.';
  return [{ type: 'call-provisioner', provisioner: wanted }, tell(normal('ExternalProvisioning', message))];
}

function waitingNote({ waitingPods }: ObservedClaim): EventNote {
  if (waitingPods.length === 0) {
    return normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  }
  const who = `${waitingPods.length > 1 ? 'pods' : 'pod'} ${waitingPods.join(',')}`;
  return normal('WaitForPodScheduled', `waiting for ${who} to be scheduled`);
}

const defaultMarks = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** Of several the youngest: whoever made it meant it to take over. */
function defaultClass(storageClasses: readonly StorageClass[]): StorageClass | undefined {
  const isDefault = ({ metadata }: StorageClass) =>
    defaultMarks.some((mark) => metadata.annotations?.[mark] === 'true');
  const [first] = storageClasses.filter(isDefault).toSorted(({ metadata: a }, { metadata: b }) => {
    const age = Date.parse(b.creationTimestamp) - Date.parse(a.creationTimestamp);
    return age || (a.name < b.name ? -1 : 1);
  });
  return first;
}

function pendingAction({ status }: PersistentVolumeClaim): readonly ClaimAction[] {
  return status?.phase === 'Pending' ? [] : [{ type: 'write-phase', phase: 'Pending' }];
}

const tell = (note: EventNote): ClaimAction => ({ type: 'tell', note });
const normal = (reason: string, message: string): EventNote => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventNote => ({ type: 'Warning', reason, message });
