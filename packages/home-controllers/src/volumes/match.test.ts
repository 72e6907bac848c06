import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '@hutch/kube-meta';
import { bestMatch, type MatchOptions, mismatchOf } from './match.ts';
import { aClaim, aVolume, onNode, tiedTo } from './test-objects.ts';

const free = { onlyReserved: false };
const named = (name: string, spec: Partial<PersistentVolume['spec']> = {}, labels?: Record<string, string>) =>
  aVolume({ metadata: { name, ...(labels ? { labels } : {}) }, spec });

const cases: {
  name: string;
  claim?: PersistentVolumeClaim;
  volumes: PersistentVolume[];
  options?: MatchOptions;
  want: string | undefined;
}[] = [
  { name: 'without volumes there is no match', volumes: [], want: undefined },
  {
    name: 'the smallest that is large enough is taken',
    volumes: [
      named('big', { capacity: { storage: '10Gi' } }),
      named('right', { capacity: { storage: '1.5Gi' } }),
      named('small', { capacity: { storage: '1G' } }),
    ],
    want: 'right',
  },
  {
    name: 'access modes nobody asked for are kept for those who do',
    volumes: [
      named('many', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }),
      named('few', { capacity: { storage: '5Gi' } }),
    ],
    want: 'few',
  },
  {
    name: 'a mode that is asked for must be there',
    claim: aClaim({ spec: { accessModes: ['ReadWriteMany'] } }),
    volumes: [named('a')],
    want: undefined,
  },
  {
    name: 'another class is another world',
    volumes: [named('a', { storageClassName: 'slow' })],
    want: undefined,
  },
  {
    name: 'no class is a class too',
    claim: aClaim({ spec: { storageClassName: '' } }),
    volumes: [named('a'), aVolume({ metadata: { name: 'b' }, spec: { storageClassName: '' } })],
    want: 'b',
  },
  {
    name: 'a block device is no file system',
    volumes: [named('a', { volumeMode: 'Block' })],
    want: undefined,
  },
  {
    name: 'a selector is heeded',
    claim: aClaim({ spec: { selector: { matchLabels: { disk: 'ssd' } } } }),
    volumes: [named('a'), named('b', { capacity: { storage: '9Gi' } }, { disk: 'ssd' })],
    want: 'b',
  },
  {
    name: 'a volume of another claim is not free',
    volumes: [named('a', { claimRef: tiedTo(aClaim({ metadata: { name: 'other' } })) })],
    want: undefined,
  },
  {
    name: 'one that was given back is not free',
    volumes: [aVolume({ status: { phase: 'Released' } })],
    want: undefined,
  },
  {
    name: 'one on its way out is not free',
    volumes: [aVolume({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })],
    want: undefined,
  },
  {
    name: 'one that is reserved for the claim comes before a better fit',
    volumes: [
      named('fit'),
      named('reserved', { capacity: { storage: '9Gi' }, claimRef: tiedTo(aClaim(), '') }),
    ],
    want: 'reserved',
  },
  {
    name: 'one that was tied to a namesake of the claim is not for it',
    volumes: [named('a', { claimRef: tiedTo(aClaim(), 'older') })],
    want: undefined,
  },
  {
    name: 'while the pod is waited for only what is reserved counts',
    volumes: [named('fit')],
    options: { onlyReserved: true },
    want: undefined,
  },
  {
    name: 'a volume must be reachable from the node',
    volumes: [named('far', { nodeAffinity: onNode('n2') }), named('near', { nodeAffinity: onNode('n1') })],
    options: { onlyReserved: false, node: { name: 'n1', labels: { host: 'n1' } } },
    want: 'near',
  },
];
for (const { name, claim = aClaim(), volumes, options = free, want } of cases) {
  test(name, () => assert.equal(bestMatch(claim, volumes, options)?.metadata.name, want));
}

const mismatches: [string, PersistentVolume, string | undefined][] = [
  ['a fitting volume', aVolume(), undefined],
  ['a small volume', aVolume({ spec: { capacity: { storage: '1Mi' } } }), 'requested PV is too small'],
  ['another class', aVolume({ spec: { storageClassName: 'x' } }), 'storageClassName does not match'],
  ['a block device', aVolume({ spec: { volumeMode: 'Block' } }), 'incompatible volumeMode'],
  ['other modes', aVolume({ spec: { accessModes: ['ReadOnlyMany'] } }), 'incompatible accessMode'],
];
for (const [name, volume, want] of mismatches) {
  test(`${name} asked for by name ${want ? 'is refused with the reason' : 'is fine'}`, () => {
    assert.equal(mismatchOf(volume, aClaim()), want);
  });
}
