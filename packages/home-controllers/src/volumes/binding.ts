/**
 * Ties a volume and a claim to each other.
 *
 * Flow: the volume first (that is where two claims meet, and its resourceVersion lets only one win), then the
 * claim, each with its phase after it. Whatever is there already is left out, so a bond that broke off half way
 * is finished by doing it again.
 */
import type { KubeClient } from '@hutch/kube-client';
import {
  jsonEquals,
  keyOf,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
} from '@hutch/kube-meta';
import { bindCompleted, boundByController, hasMark, isBoundTo } from './match.ts';

export async function bind(
  client: KubeClient,
  given: { volume: PersistentVolume; claim: PersistentVolumeClaim },
  signal: AbortSignal,
): Promise<void> {
  const volume = await bindVolume(client, given, signal);
  if (volume.status?.phase !== 'Bound') await writeVolumePhase(client, volume, { phase: 'Bound' }, signal);
  const claim = await bindClaim(client, { volume, claim: given.claim }, signal);
  await writeBoundStatus(client, { volume, claim }, signal);
}

/** Reserves a volume for a claim, which is all the scheduler does of it. */
export async function bindVolume(
  client: KubeClient,
  { volume, claim }: { volume: PersistentVolume; claim: PersistentVolumeClaim },
  signal: AbortSignal,
): Promise<PersistentVolume> {
  if (volume.spec.claimRef?.uid === claim.metadata.uid) return volume;
  const { resourceVersion } = volume.metadata;
  const annotations = isBoundTo(volume, claim) ? {} : { annotations: { [boundByController]: 'yes' } };
  const patch = {
    metadata: { resourceVersion, ...annotations },
    spec: { claimRef: claimReference(claim) },
  };
  return await client.patch<PersistentVolume>(persistentVolumes, keyOf(volume), patch, { signal });
}

export function claimReference({ metadata }: PersistentVolumeClaim) {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: namespace ?? '',
    name,
    uid,
    resourceVersion,
  };
}

export async function writeVolumePhase(
  client: KubeClient,
  volume: PersistentVolume,
  { phase, message }: { phase: string; message?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion } = volume.metadata;
  const patch = { metadata: { resourceVersion }, status: { phase, message: message ?? null } };
  await client.patch(persistentVolumes, keyOf(volume), patch, { subresource: 'status', signal });
}

async function bindClaim(
  client: KubeClient,
  { volume, claim }: { volume: PersistentVolume; claim: PersistentVolumeClaim },
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const volumeName = volume.metadata.name;
  const isNamed = claim.spec.volumeName === volumeName;
  if (isNamed && hasMark(claim, bindCompleted)) return claim;
  const { resourceVersion } = claim.metadata;
  const annotations = { [bindCompleted]: 'yes', ...(isNamed ? {} : { [boundByController]: 'yes' }) };
  const patch = { metadata: { resourceVersion, annotations }, spec: { volumeName } };
  return await client.patch<PersistentVolumeClaim>(persistentVolumeClaims, keyOf(claim), patch, { signal });
}

/** The size is taken over once: later it may rightly differ, while a volume grows. */
async function writeBoundStatus(
  client: KubeClient,
  { volume, claim }: { volume: PersistentVolume; claim: PersistentVolumeClaim },
  signal: AbortSignal,
): Promise<void> {
  const { accessModes, capacity } = volume.spec;
  const isBound = claim.status?.phase === 'Bound';
  if (isBound && jsonEquals(claim.status?.accessModes, accessModes)) return;
  const { resourceVersion } = claim.metadata;
  const status = { phase: 'Bound', accessModes, ...(isBound ? {} : { capacity }) };
  const patch = { metadata: { resourceVersion }, status };
  await client.patch(persistentVolumeClaims, keyOf(claim), patch, { subresource: 'status', signal });
}
