import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '@hutch/kube-meta';
import { type ConditionDraft, removeCondition, upsertCondition } from './conditions.ts';

const earlier = '2030-01-01T00:00:00Z';
const now = new Date('2030-01-01T00:00:05.678Z');
const notReady: ConditionDraft = { type: 'Ready', status: 'False', reason: 'Waiting', message: 'not yet' };
const existing: Condition[] = [
  { type: 'Suspended', status: 'False', reason: 'NotSuspended', message: '', lastTransitionTime: earlier },
  { ...notReady, lastTransitionTime: earlier },
];

test('a new type goes to the end, with the time in whole seconds', () => {
  const [, , added] = upsertCondition(existing, { ...notReady, type: 'Finished' }, now);
  assert.deepEqual(added, { ...notReady, type: 'Finished', lastTransitionTime: '2030-01-01T00:00:05Z' });
});

test('a changed status moves the time, in its old place', () => {
  const [, ready] = upsertCondition(existing, { ...notReady, status: 'True' }, now);
  assert.equal(ready?.lastTransitionTime, '2030-01-01T00:00:05Z');
});

test('a changed reason, message or generation does not move the time', () => {
  const draft = { ...notReady, reason: 'Other', message: 'other', observedGeneration: 2 };
  assert.deepEqual(upsertCondition(existing, draft, now)[1], { ...draft, lastTransitionTime: earlier });
});

test('nothing that came in is changed', () => {
  const before = structuredClone(existing);
  upsertCondition(existing, { ...notReady, status: 'True' }, now);
  removeCondition(existing, 'Ready');
  assert.deepEqual(existing, before);
});
