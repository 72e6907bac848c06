import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods, type Resource } from '@hutch/kube-meta';
import { anObject } from '@hutch/testing';
import { desiredConditions } from './conditions.ts';

const now = new Date('2030-01-01T00:00:00Z');
const things: Resource = {
  group: 'example.test',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
};
const left = (resource: Resource, finalizers: string[] = []) => ({
  resource,
  object: anObject({ metadata: { finalizers } }),
});

test('what stays is told by kind and by what holds it', () => {
  const remaining = [left(things, ['x/held']), left(pods), left(things, ['x/held', 'a/too'])];
  const conditions = desiredConditions([], remaining, now) ?? assert.fail();
  assert.deepEqual(
    conditions.filter(({ status }) => status === 'True').map(({ message }) => message),
    [
      'Some resources are remaining: pods. has 1 resource instances, things.example.test has 2 resource instances',
      'Some content in the namespace has finalizers remaining: a/too in 1 resource instances, x/held in 2 resource instances',
    ],
  );
  assert.equal(conditions.length, 5);
});

test('what was said is not said again, and a turn is dated', () => {
  const first = desiredConditions([], [left(pods)], now) ?? assert.fail();
  const later = new Date('2030-01-01T00:01:00Z');
  assert.equal(desiredConditions(first, [left(pods)], later), undefined);
  const turned = desiredConditions(first, [left(pods, ['x/held'])], later) ?? assert.fail();
  const times = Object.fromEntries(turned.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
  assert.equal(times.NamespaceContentRemaining, '2030-01-01T00:00:00Z');
  assert.equal(times.NamespaceFinalizersRemaining, '2030-01-01T00:01:00Z');
});
