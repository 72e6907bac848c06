import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anExit, aPod } from '../test-objects.ts';
import type { ContainerView } from './decide.ts';
import { desiredStatus, type StatusInput } from './status.ts';

const now = new Date('2030-01-01T00:00:20.500Z');

function input(containers: ContainerView[], overrides: Partial<StatusInput> = {}): StatusInput {
  return {
    pod: aPod(),
    isGone: false,
    isOver: false,
    isSetUp: true,
    containers,
    podIp: '10.231.1.2',
    hostIp: '192.0.2.2',
    startTime: '2030-01-01T00:00:00Z',
    runtimeName: 'runc',
    containerId: (name, attempt) => `${name}-${attempt}`,
    ...overrides,
  };
}

const view = (state: ContainerView['state'], rest: Partial<ContainerView> = {}): ContainerView => ({
  name: 'main',
  attempt: 0,
  state,
  crashes: 0,
  ...rest,
});

const conditionsOf = (status: ReturnType<typeof desiredStatus>) =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: value }) => [type, value]));

const runningReady = view({ type: 'running', startedAt: '2030-01-01T00:00:05.123Z', isReady: true });

test('a ready pod has its address, times in whole seconds and all conditions true', () => {
  const status = desiredStatus(input([runningReady]), now);
  assert.equal(status.phase, 'Running');
  assert.deepEqual(status.podIPs, [{ ip: '10.231.1.2' }]);
  assert.deepEqual(conditionsOf(status), {
    PodScheduled: 'True',
    Initialized: 'True',
    ContainersReady: 'True',
    Ready: 'True',
  });
  assert.deepEqual(status.containerStatuses, [
    {
      name: 'main',
      image: 'hutch.internal/host',
      imageID: 'hutch.internal/host',
      containerID: 'runc://main-0',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: '2030-01-01T00:00:05Z' } },
    },
  ]);
});

test('a condition keeps its time until it turns', () => {
  const first = desiredStatus(input([runningReady]), now);
  const later = new Date('2030-01-01T00:01:00Z');
  assert.deepEqual(desiredStatus(input([runningReady], { before: first }), later), first);
  const unready = view({ type: 'running', startedAt: '2030-01-01T00:00:05Z', isReady: false });
  const turned = desiredStatus(input([unready], { before: first }), later);
  const times = Object.fromEntries(
    (turned.conditions ?? []).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
  );
  assert.deepEqual([times.Ready, times.Initialized], ['2030-01-01T00:01:00Z', '2030-01-01T00:00:20Z']);
});

test('before its first start a pod is pending', () => {
  const status = desiredStatus(input([view({ type: 'absent' })]), now);
  assert.equal(status.phase, 'Pending');
  assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } });
});

test('a refused pod has failed, and says why', () => {
  const refusal = { reason: 'ErrImagePull', message: 'no such image' };
  const status = desiredStatus(input([view({ type: 'absent' })], { refusal }), now);
  assert.deepEqual(
    [status.phase, status.reason, status.message],
    ['Failed', 'ErrImagePull', 'no such image'],
  );
  assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: refusal });
});

const ends: { name: string; exit: Parameters<typeof anExit>[0]; phase: string; want: object }[] = [
  { name: 'success', exit: {}, phase: 'Succeeded', want: { exitCode: 0, reason: 'Completed' } },
  { name: 'an error', exit: { exitCode: 7 }, phase: 'Failed', want: { exitCode: 7, reason: 'Error' } },
  {
    name: 'a signal',
    exit: { exitCode: 143 },
    phase: 'Failed',
    want: { exitCode: 143, signal: 15, reason: 'Error' },
  },
  {
    name: 'out of memory',
    exit: { exitCode: 137, isOutOfMemory: true },
    phase: 'Failed',
    want: { exitCode: 137, signal: 9, reason: 'OOMKilled' },
  },
  {
    name: 'a program that is not there',
    exit: { exitCode: 128, problem: { reason: 'StartError', message: 'not found' } },
    phase: 'Failed',
    want: { exitCode: 128, reason: 'StartError', message: 'not found' },
  },
];

for (const { name, exit, phase, want } of ends) {
  test(`how a final end is told: ${name}`, () => {
    const pod = aPod({ restartPolicy: 'Never' });
    const status = desiredStatus(input([view({ type: 'exited', exit: anExit(exit) })], { pod }), now);
    const times = {
      startedAt: '2030-01-01T00:00:00Z',
      finishedAt: '2030-01-01T00:00:10Z',
      containerID: 'runc://main-0',
    };
    assert.equal(status.phase, phase);
    assert.deepEqual(status.containerStatuses?.[0]?.state, { terminated: { ...want, ...times } });
  });
}

test('a crash loop is told as waiting, with the last end beside it', () => {
  const crashed = view({ type: 'exited', exit: anExit({ exitCode: 1 }) }, { attempt: 4, crashes: 5 });
  const status = desiredStatus(input([crashed]), now).containerStatuses?.[0];
  assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
  assert.equal(status?.lastState?.terminated?.exitCode, 1);
  assert.equal(status?.restartCount, 4);
});

test('a readiness gate holds the pod back, and foreign conditions are kept', () => {
  const gate = { type: 'example.com/gate', status: 'False' as const };
  const pod = { ...aPod({ readinessGates: [{ conditionType: gate.type }] }), status: { conditions: [gate] } };
  const status = desiredStatus(input([runningReady], { pod }), now);
  assert.deepEqual(conditionsOf(status).Ready, 'False');
  assert.deepEqual(conditionsOf(status).ContainersReady, 'True');
  assert.deepEqual(status.conditions?.at(-1), gate);
});
