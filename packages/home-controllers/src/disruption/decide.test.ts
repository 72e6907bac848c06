import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OwnerReference, Pod, PodDisruptionBudget } from '@hutch/kube-meta';
import { aPod, someMeta } from '@hutch/testing';
import { type Decision, decide } from './decide.ts';

const now = new Date('2030-01-01T00:00:00Z');
const controller = (uid: string): OwnerReference => ({
  apiVersion: 'example.test/v1',
  kind: 'Set',
  name: uid,
  uid,
  controller: true,
});

function pod(name: string, given: { ready?: boolean; terminating?: boolean; owner?: string } = {}): Pod {
  const { ready = true, terminating = false, owner } = given;
  return aPod({
    metadata: { name, ...(owner === undefined ? {} : { ownerReferences: [controller(owner)] }) },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    terminating,
  });
}

function aBudget(
  spec: PodDisruptionBudget['spec'],
  status?: PodDisruptionBudget['status'],
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: someMeta('budget', { generation: 3 }),
    spec,
    ...(status ? { status } : {}),
  };
}

const scales: Record<string, number | string> = { three: 3, ten: 10, odd: 'sets do not scale' };
const judge = (budget: PodDisruptionBudget, pods: readonly Pod[], at = now) =>
  decide({ budget, pods, scaleOf: ({ uid }) => scales[uid] ?? 'unknown' }, at);

const figures = ({ status }: Decision) =>
  status && [status.currentHealthy, status.desiredHealthy, status.expectedPods, status.disruptionsAllowed];

const cases: { name: string; spec: PodDisruptionBudget['spec']; pods: Pod[]; want: number[] }[] = [
  {
    name: 'a number that must be there is counted against the pods that are',
    spec: { minAvailable: 1 },
    pods: [pod('a'), pod('b'), pod('c', { ready: false })],
    want: [2, 1, 3, 1],
  },
  {
    name: 'too few are never less than none',
    spec: { minAvailable: 5 },
    pods: [pod('a')],
    want: [1, 5, 1, 0],
  },
  { name: 'without pods nothing is allowed', spec: { minAvailable: 0 }, pods: [], want: [0, 0, 0, 0] },
  {
    name: 'a pod on its way out is not healthy',
    spec: { minAvailable: 0 },
    pods: [pod('a'), pod('b', { terminating: true })],
    want: [1, 0, 2, 1],
  },
  {
    name: 'a share is of what the controllers mean to have, rounded up',
    spec: { minAvailable: '50%' },
    pods: [pod('a', { owner: 'three' }), pod('b', { owner: 'three' })],
    want: [2, 2, 3, 0],
  },
  {
    name: 'what may be missing is taken from what is meant to be',
    spec: { maxUnavailable: 1 },
    pods: [pod('a', { owner: 'three' }), pod('b', { owner: 'three' }), pod('c', { owner: 'three' })],
    want: [3, 2, 3, 1],
  },
  {
    name: 'a share of what may be missing is rounded up too',
    spec: { maxUnavailable: '25%' },
    pods: [pod('a', { owner: 'ten' })],
    want: [1, 7, 10, 0],
  },
  {
    name: 'pods of several controllers are counted together',
    spec: { maxUnavailable: '100%' },
    pods: [pod('a', { owner: 'ten' }), pod('b', { owner: 'three' })],
    want: [2, 0, 13, 2],
  },
];
for (const { name, spec, pods, want } of cases) {
  test(name, () => assert.deepEqual(figures(judge(aBudget(spec), pods)), want));
}

test('a controller that has no scale allows nothing and says why', () => {
  const { status } = judge(aBudget({ maxUnavailable: 1 }), [pod('a', { owner: 'odd' })]);
  assert.equal(status?.disruptionsAllowed, 0);
  assert.deepEqual(status?.conditions, [
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message: 'sets do not scale',
      observedGeneration: 0,
      lastTransitionTime: '2030-01-01T00:00:00Z',
    },
  ]);
});

test('pods nobody manages are told of where they cannot be counted', () => {
  assert.equal(judge(aBudget({ maxUnavailable: 1 }), [pod('a')]).hasUnmanaged, true);
  assert.equal(judge(aBudget({ minAvailable: 1 }), [pod('a')]).hasUnmanaged, false);
});

test('a status that says it all is not written again', () => {
  const pods = [pod('a'), pod('b')];
  const { status } = judge(aBudget({ minAvailable: 1 }), pods);
  assert.ok(status);
  assert.equal(judge(aBudget({ minAvailable: 1 }, status), pods, new Date('2031-01-01')).status, undefined);
});

test('a granted eviction counts until its pod goes, or is overdue', () => {
  const granted = {
    ...baseStatus,
    disruptedPods: { a: '2030-01-01T00:00:00Z', gone: '2030-01-01T00:00:00Z' },
  };
  const budget = aBudget({ minAvailable: 0 }, granted);
  const pods = [pod('a'), pod('b')];
  const soon = judge(budget, pods, new Date('2030-01-01T00:01:00Z'));
  assert.deepEqual(soon.status?.disruptedPods, { a: '2030-01-01T00:00:00Z' });
  assert.deepEqual(figures(soon), [1, 0, 2, 1]);
  assert.equal(soon.requeueAfterMs, 60_001);
  const late = judge(budget, pods, new Date('2030-01-01T00:02:01Z'));
  assert.equal(late.status?.disruptedPods, undefined);
  assert.deepEqual(figures(late), [2, 0, 2, 2]);
});

const baseStatus = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, disruptionsAllowed: 0 };

test('the time of a condition is that of its last turn', () => {
  const pods = [pod('a'), pod('b')];
  const first = judge(aBudget({ minAvailable: 1 }), pods).status;
  assert.ok(first);
  const later = new Date('2030-01-02T00:00:00Z');
  const same = judge(aBudget({ minAvailable: 0 }, first), pods, later).status;
  assert.equal(same?.conditions?.[0]?.lastTransitionTime, '2030-01-01T00:00:00Z');
  const turned = judge(aBudget({ minAvailable: 2 }, first), pods, later).status;
  assert.equal(turned?.conditions?.[0]?.lastTransitionTime, '2030-01-02T00:00:00Z');
});
