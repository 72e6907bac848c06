import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '@hutch/kube-meta';
import { decideVolume, reclaimFinalizer, unbinding, type VolumeAction } from './decide-volume.ts';
import { boundByController, provisionedBy } from './match.ts';
import { protectionPatch } from './protection.ts';
import { aClaim, aVolume, tiedTo } from './test-objects.ts';

const provisioner = 'hutch.example/disk';
const claimRef = tiedTo(aClaim());
const bound = { phase: 'Bound' } as const;
const own = { annotations: { [provisionedBy]: provisioner }, finalizers: [reclaimFinalizer] };
const terminating = { deletionTimestamp: '2030-01-01T00:00:00Z' };

const brief = (action: VolumeAction) => ('phase' in action ? `${action.type} ${action.phase}` : action.type);

const cases: {
  name: string;
  volume: PersistentVolume;
  claim?: PersistentVolumeClaim;
  want: string[];
}[] = [
  { name: 'a new volume is available', volume: aVolume({ status: {} }), want: ['write-phase Available'] },
  { name: 'one that is so already is left alone', volume: aVolume(), want: [] },
  {
    name: 'one that is reserved by name is available until its claim comes',
    volume: aVolume({ spec: { claimRef: tiedTo(aClaim(), '') }, status: {} }),
    want: ['write-phase Available'],
  },
  {
    name: 'one whose claim has it is bound',
    volume: aVolume({ spec: { claimRef } }),
    claim: aClaim({ spec: { volumeName: 'volume' } }),
    want: ['write-phase Bound'],
  },
  {
    name: 'one whose claim is about to take it waits',
    volume: aVolume({ spec: { claimRef } }),
    claim: aClaim(),
    want: [],
  },
  {
    name: 'one whose claim went elsewhere is free again',
    volume: aVolume({ spec: { claimRef } }),
    claim: aClaim({ spec: { volumeName: 'other' } }),
    want: ['unbind'],
  },
  {
    name: 'one that was made for a claim that went elsewhere goes',
    volume: aVolume({ metadata: own, spec: { claimRef, persistentVolumeReclaimPolicy: 'Delete' } }),
    claim: aClaim({ spec: { volumeName: 'other' } }),
    want: ['write-phase Released', 'reclaim'],
  },
  {
    name: 'a retained volume without its claim is kept, and no longer bound',
    volume: aVolume({ spec: { claimRef, persistentVolumeReclaimPolicy: 'Retain' }, status: bound }),
    want: ['write-phase Released'],
  },
  {
    name: 'one of ours that is to go is removed',
    volume: aVolume({ metadata: own, spec: { claimRef, persistentVolumeReclaimPolicy: 'Delete' } }),
    want: ['write-phase Released', 'reclaim'],
  },
  {
    name: 'a failure stays visible while it is tried again',
    volume: aVolume({
      metadata: own,
      spec: { claimRef, persistentVolumeReclaimPolicy: 'Delete' },
      status: { phase: 'Failed' },
    }),
    want: ['reclaim'],
  },
  {
    name: 'one that somebody else made is left to them',
    volume: aVolume({
      metadata: { annotations: { [provisionedBy]: 'else' } },
      spec: { claimRef, persistentVolumeReclaimPolicy: 'Delete' },
    }),
    want: ['write-phase Released'],
  },
  {
    name: 'one that nobody can remove has failed',
    volume: aVolume({ spec: { claimRef, persistentVolumeReclaimPolicy: 'Delete' } }),
    want: ['fail'],
  },
  {
    name: 'recycling is a thing of the past',
    volume: aVolume({ spec: { claimRef, persistentVolumeReclaimPolicy: 'Recycle' } }),
    want: ['fail'],
  },
  {
    name: 'one of ours that a person deletes before any claim had it is removed',
    volume: aVolume({
      metadata: { ...own, ...terminating },
      spec: { persistentVolumeReclaimPolicy: 'Delete' },
    }),
    want: ['reclaim'],
  },
  {
    name: 'one of ours that is retained and deleted goes, and its data stay',
    volume: aVolume({
      metadata: { ...own, ...terminating },
      spec: { claimRef, persistentVolumeReclaimPolicy: 'Retain' },
      status: { phase: 'Released' },
    }),
    want: ['let-go'],
  },
];
for (const { name, volume, claim, want } of cases) {
  test(name, () => assert.deepEqual(decideVolume({ volume, claim, provisioner }).map(brief), want));
}

test('what the controller reserved is freed whole, what a person reserved stays reserved', () => {
  const byUs = aVolume({ metadata: { annotations: { [boundByController]: 'yes' } }, spec: { claimRef } });
  assert.deepEqual(unbinding(byUs), {
    metadata: { resourceVersion: '1', annotations: { [boundByController]: null } },
    spec: { claimRef: null },
  });
  assert.deepEqual(unbinding(aVolume({ spec: { claimRef } })), {
    metadata: { resourceVersion: '1' },
    spec: { claimRef: { uid: null } },
  });
});

const protections: [string, Parameters<typeof aVolume>[0], boolean, string | undefined][] = [
  ['what is not protected becomes so', {}, false, 'add'],
  ['what is protected stays so', { metadata: { finalizers: ['p'] } }, false, undefined],
  [
    'what is used stays although it was deleted',
    { metadata: { finalizers: ['p'], ...terminating } },
    true,
    undefined,
  ],
  ['what is not used any more goes', { metadata: { finalizers: ['p'], ...terminating } }, false, 'remove'],
  ['what is on its way out is not protected any more', { metadata: terminating }, true, undefined],
];
for (const [name, given, isUsed, want] of protections) {
  test(name, () => assert.equal(protectionPatch(aVolume(given), 'p', isUsed)?.type, want));
}
