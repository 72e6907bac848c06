import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anObject } from '@hutch/testing';
import { decide, isBlocking, isWaitingForDependants, type OwnerState, type Verdict } from './decide.ts';

const ownerRef = (uid: string) => ({ apiVersion: 'v1', kind: 'Pod', name: uid, uid });
const owned = (...uids: string[]) => anObject({ metadata: { ownerReferences: uids.map(ownerRef) } });
const terminating = { deletionTimestamp: '2030-01-01T00:00:00Z' };

const remove = (propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Verdict => ({
  type: 'delete',
  propagationPolicy,
});

const cases: {
  name: string;
  object: ReturnType<typeof anObject>;
  states?: Record<string, OwnerState>;
  dependants?: ReturnType<typeof anObject>[];
  want: Verdict;
}[] = [
  { name: 'what nobody owns is kept', object: anObject(), want: { type: 'keep' } },
  {
    name: 'what its owner still holds is kept',
    object: owned('a'),
    states: { a: 'present' },
    want: { type: 'keep' },
  },
  {
    name: 'with its only owner gone it is deleted',
    object: owned('a'),
    states: { a: 'absent' },
    want: remove('Background'),
  },
  {
    name: 'with all owners gone it is deleted',
    object: owned('a', 'b'),
    states: { a: 'absent', b: 'absent' },
    want: remove('Background'),
  },
  {
    name: 'with one owner left it only loses the reference to the other',
    object: owned('a', 'b'),
    states: { a: 'absent', b: 'present' },
    want: { type: 'release', ownerReferences: [ownerRef('b')] },
  },
  {
    name: 'an owner that waits does not wait for what another owner holds',
    object: owned('a', 'b'),
    states: { a: 'waiting', b: 'present' },
    want: { type: 'release', ownerReferences: [ownerRef('b')] },
  },
  {
    name: 'what a waiting owner waits for is deleted',
    object: owned('a'),
    states: { a: 'waiting' },
    want: remove('Background'),
  },
  {
    name: 'what hangs on it is waited for too',
    object: owned('a'),
    states: { a: 'waiting' },
    dependants: [anObject()],
    want: remove('Foreground'),
  },
  {
    name: 'an owner of others whose own owner is gone goes in the background',
    object: owned('a'),
    states: { a: 'absent' },
    dependants: [anObject()],
    want: remove('Background'),
  },
  {
    name: 'what a waiting owner waits for goes first when it in turn is waited for: a cycle is broken',
    object: owned('a'),
    states: { a: 'waiting' },
    dependants: [anObject(), anObject({ metadata: { ...terminating, finalizers: ['foregroundDeletion'] } })],
    want: { type: 'delete', propagationPolicy: 'Foreground', breaksCycle: true },
  },
  {
    name: 'while one owner cannot be told, nothing is done',
    object: owned('a', 'b', 'c'),
    states: { a: 'unknown', b: 'absent', c: 'present' },
    want: { type: 'keep' },
  },
  {
    name: 'what is meant to orphan its own dependants does so',
    object: anObject({ metadata: { ownerReferences: [ownerRef('a')], finalizers: ['orphan'] } }),
    states: { a: 'absent' },
    want: remove('Orphan'),
  },
  {
    name: 'what is meant to wait for its own dependants does so',
    object: anObject({ metadata: { ownerReferences: [ownerRef('a')], finalizers: ['foregroundDeletion'] } }),
    states: { a: 'absent' },
    want: remove('Foreground'),
  },
  {
    name: 'what is already on its way out is left alone',
    object: anObject({ metadata: { ...terminating, ownerReferences: [ownerRef('a')] } }),
    states: { a: 'absent' },
    want: { type: 'keep' },
  },
];

for (const { name, object, states = {}, dependants = [], want } of cases) {
  test(name, () => {
    const stateOf = ({ uid }: { uid: string }) => states[uid] ?? assert.fail(`asked for ${uid}`);
    assert.deepEqual(decide({ object, stateOf, dependants }), want);
  });
}

test('an owner waits only while it is deleted in the foreground', () => {
  const finalizers = ['foregroundDeletion'];
  assert.equal(isWaitingForDependants(anObject({ metadata: { ...terminating, finalizers } })), true);
  assert.equal(isWaitingForDependants(anObject({ metadata: { finalizers } })), false);
  assert.equal(isWaitingForDependants(anObject({ metadata: terminating })), false);
});

test('a dependant blocks its owner only where its reference says so', () => {
  const blocking = { ...ownerRef('a'), blockOwnerDeletion: true };
  const object = anObject({ metadata: { ownerReferences: [blocking, ownerRef('b')] } });
  assert.equal(isBlocking(object, 'a'), true);
  assert.equal(isBlocking(object, 'b'), false);
  assert.equal(isBlocking(object, 'c'), false);
});
