import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, type Sandbox, type SandboxStatus } from '@hutch/api';
import type { Pod, PodStatus } from '@hutch/kube-meta';
import { aPod } from '@hutch/testing';
import type { Backing } from './backing.ts';
import { aSandbox, now, ownedPod, readyPod, suspended } from './fixtures.test.ts';
import { desiredStatus, expiredStatus, isOnlyProgress, type Trouble } from './status.ts';

const owned = (pod: Pod): Backing => ({ type: 'owned', pod });
const withStatus = (status: PodStatus) => owned(ownedPod({ status }));
const absent: Backing = { type: 'absent' };
const notOurs: Backing = { type: 'not-ours', pod: aPod({ metadata: { name: 'box' }, status: readyPod }) };
const failing: Trouble = { reason: 'ReconcilerError', message: 'create pod: no' };

/** `status/reason`, the way a condition reads in a table. */
function reading(status: SandboxStatus, type: string): string | undefined {
  const condition = findCondition(status.conditions, type);
  return condition && `${condition.status}/${condition.reason}`;
}

interface Case {
  readonly name: string;
  readonly sandbox?: Sandbox;
  readonly backing: Backing;
  readonly trouble?: Trouble;
  readonly want: { Ready: string; Suspended: string; PodScheduled?: string; Finished?: string };
  readonly message?: string;
}

const unscheduled = 'Unknown/PodSchedulingUnknown';
const running = 'False/NotSuspended';

const cases: Case[] = [
  {
    name: 'a ready pod makes a ready sandbox (SB-132)',
    backing: withStatus(readyPod),
    want: { Ready: 'True/DependenciesReady', Suspended: running, PodScheduled: 'True/PodScheduled' },
    message: 'Pod is Ready',
  },
  {
    name: 'a new pod is waited for (SB-62)',
    backing: withStatus({ phase: 'Pending' }),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: unscheduled },
    message: 'Pod exists with phase: Pending',
  },
  {
    name: 'a pod without a phase does not break the message (SB-62)',
    backing: owned(ownedPod()),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: unscheduled },
    message: 'Pod exists with phase: ',
  },
  {
    name: 'a running pod must be ready',
    backing: withStatus({ ...readyPod, conditions: [{ type: 'Ready', status: 'False' }] }),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: unscheduled },
    message: 'Pod is Running but not Ready',
  },
  {
    name: 'a ready pod must have an address',
    backing: withStatus({ ...readyPod, podIPs: [] }),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: 'True/PodScheduled' },
    message: 'Pod is Ready but has no podIPs yet',
  },
  {
    name: 'a terminating pod is not ready, whatever it says of itself',
    backing: owned(ownedPod({ status: readyPod, terminating: true })),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: 'True/PodScheduled' },
    message: 'Pod is terminating',
  },
  {
    name: 'a pod that succeeded has finished (SB-122)',
    backing: withStatus({ phase: 'Succeeded' }),
    want: {
      Ready: 'False/PodSucceeded',
      Suspended: running,
      PodScheduled: unscheduled,
      Finished: 'True/PodSucceeded',
    },
    message: 'Pod completed successfully',
  },
  {
    name: 'a pod that failed has finished (SB-122)',
    backing: withStatus({ phase: 'Failed' }),
    want: {
      Ready: 'False/PodFailed',
      Suspended: running,
      PodScheduled: unscheduled,
      Finished: 'True/PodFailed',
    },
    message: 'Pod failed',
  },
  {
    name: 'what keeps a container from starting is said where people look',
    backing: withStatus({
      phase: 'Pending',
      containerStatuses: [
        {
          name: 'sandbox',
          image: 'x',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { waiting: { reason: 'CreateContainerError', message: 'no cgroup' } },
        },
      ],
    }),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: unscheduled },
    message: 'Pod exists with phase: Pending: CreateContainerError: no cgroup',
  },
  {
    name: 'why a pod failed is said where people look',
    backing: withStatus({ phase: 'Failed', message: 'image x is not here' }),
    want: {
      Ready: 'False/PodFailed',
      Suspended: running,
      PodScheduled: unscheduled,
      Finished: 'True/PodFailed',
    },
    message: 'Pod failed: image x is not here',
  },
  {
    name: 'a failed pod that is going is about to be replaced, so it is no last word',
    backing: owned(ownedPod({ status: { phase: 'Failed' }, terminating: true })),
    want: {
      Ready: 'False/DependenciesNotReady',
      Suspended: running,
      PodScheduled: unscheduled,
      Finished: 'True/PodFailed',
    },
  },
  {
    name: 'what the scheduler says is mirrored (SB-126)',
    backing: withStatus({
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'full' }],
    }),
    want: { Ready: 'False/DependenciesNotReady', Suspended: running, PodScheduled: 'False/Unschedulable' },
  },
  {
    name: 'a reason that no condition may hold is replaced',
    backing: withStatus({
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'no room!', message: '' }],
    }),
    want: {
      Ready: 'False/DependenciesNotReady',
      Suspended: running,
      PodScheduled: 'False/PodSchedulingUnknown',
    },
  },
  {
    name: 'several pods are counted (SB-120)',
    backing: { type: 'several', count: 3 },
    trouble: failing,
    want: { Ready: 'False/MultiplePods', Suspended: running, PodScheduled: unscheduled },
    message: 'multiple Pods (3) are controlled by this Sandbox',
  },
  {
    name: 'an error is told (SB-148)',
    backing: absent,
    trouble: failing,
    want: { Ready: 'False/ReconcilerError', Suspended: running, PodScheduled: unscheduled },
    message: 'Error seen: create pod: no',
  },
  {
    name: 'what only the user can mend has its own reason',
    backing: absent,
    trouble: { reason: 'InvalidConfiguration', message: 'bad pod' },
    want: { Ready: 'False/InvalidConfiguration', Suspended: running, PodScheduled: unscheduled },
    message: 'bad pod',
  },
  {
    name: 'no pod and no trouble',
    backing: absent,
    want: { Ready: 'False/DependenciesNotReady', Suspended: running },
    message: 'Pod does not exist',
  },
  {
    name: 'suspending waits for the pod to go (SB-101)',
    sandbox: suspended(),
    backing: owned(ownedPod({ status: readyPod, terminating: true })),
    want: {
      Ready: 'False/SandboxSuspended',
      Suspended: 'False/PodTerminating',
      PodScheduled: 'True/PodScheduled',
    },
    message: 'Sandbox is suspending',
  },
  {
    name: 'suspended when it has gone (SB-102)',
    sandbox: suspended(),
    backing: absent,
    want: { Ready: 'False/SandboxSuspended', Suspended: 'True/PodTerminated' },
    message: 'Sandbox is suspended',
  },
  {
    name: 'a pod of others is in the way of suspension, and says nothing else (SB-103)',
    sandbox: suspended(),
    backing: notOurs,
    want: { Ready: 'False/SandboxSuspended', Suspended: 'False/PodNotOwned' },
    message: 'Sandbox is suspending',
  },
  {
    name: 'what could not be read is not said to be gone (SB-104)',
    sandbox: suspended(),
    backing: { type: 'unknown' },
    trouble: failing,
    want: { Ready: 'False/ReconcilerError', Suspended: 'Unknown/PodStateUnknown', PodScheduled: unscheduled },
  },
];

for (const { name, sandbox = aSandbox(), backing, trouble, want, message } of cases) {
  test(name, () => {
    const status = desiredStatus(sandbox, { backing, trouble }, now);
    const types = status.conditions?.map(({ type }) => type) ?? [];
    assert.deepEqual(Object.fromEntries(types.map((type) => [type, reading(status, type)])), want);
    if (message !== undefined) assert.equal(findCondition(status.conditions, 'Ready')?.message, message);
    for (const condition of status.conditions ?? []) assert.equal(condition.observedGeneration, 1);
  });
}

test('addresses, node and selector come from our own pod (SB-129, SB-130)', () => {
  const pod = ownedPod({ status: readyPod, spec: { nodeName: 'n1' } });
  const { conditions: _, ...rest } = desiredStatus(aSandbox(), { backing: owned(pod) }, now);
  assert.deepEqual(rest, {
    selector: 'agents.x-k8s.io/sandbox-name-hash=70c67e32',
    podIPs: ['10.0.0.7', 'fd00::7'],
    nodeName: 'n1',
  });
});

test('a pod of others gives no address and no node, only the selector (T29)', () => {
  const { conditions: _, ...rest } = desiredStatus(suspended(), { backing: notOurs }, now);
  assert.deepEqual(rest, { selector: 'agents.x-k8s.io/sandbox-name-hash=70c67e32' });
});

test('the address of a pod that is going is no longer told', () => {
  const pod = ownedPod({ status: readyPod, terminating: true });
  assert.equal(desiredStatus(suspended(), { backing: owned(pod) }, now).podIPs, undefined);
});

test('the same world again gives the same status, three conditions (SB-131, T21)', () => {
  const backing = withStatus(readyPod);
  const status = desiredStatus(aSandbox(), { backing }, now);
  const later = new Date(now.getTime() + 60_000);
  assert.deepEqual(desiredStatus(aSandbox({ status }), { backing }, later), status);
  assert.equal(status.conditions?.length, 3);
});

test('Suspended moves its time only when its status changes (SB-105)', () => {
  const timeOf = (status: SandboxStatus) => findCondition(status.conditions, 'Suspended')?.lastTransitionTime;
  const at = (minute: number) => new Date(`2030-01-01T00:${minute}:00Z`);
  const first = desiredStatus(aSandbox(), { backing: withStatus(readyPod) }, at(10));
  const going = desiredStatus(suspended({ status: first }), { backing: withStatus(readyPod) }, at(11));
  const gone = desiredStatus(suspended({ status: going }), { backing: absent }, at(12));
  const back = desiredStatus(aSandbox({ status: gone }), { backing: absent }, at(13));
  assert.deepEqual([first, going, gone, back].map(timeOf), [
    '2030-01-01T00:10:00Z',
    '2030-01-01T00:10:00Z',
    '2030-01-01T00:12:00Z',
    '2030-01-01T00:13:00Z',
  ]);
});

test('a message that is too long is cut', () => {
  const trouble: Trouble = { reason: 'ReconcilerError', message: 'x'.repeat(100_000) };
  const { conditions } = desiredStatus(aSandbox(), { backing: absent, trouble }, now);
  assert.equal(findCondition(conditions, 'Ready')?.message.length, 1024);
});

test('a sandbox past its time when first seen has one condition (SB-118)', () => {
  const { conditions, ...rest } = expiredStatus(aSandbox(), absent, now);
  assert.deepEqual(
    conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]),
    [['Ready', 'False', 'SandboxExpired', 'Sandbox has expired']],
  );
  assert.deepEqual(rest, {});
});

test('at its time a sandbox keeps that it finished, and forgets the rest (SB-113, SB-114, T23)', () => {
  const done = desiredStatus(aSandbox(), { backing: withStatus({ ...readyPod, phase: 'Succeeded' }) }, now);
  const expired = expiredStatus(aSandbox({ status: done, metadata: { generation: 2 } }), absent, now);
  assert.deepEqual(
    expired.conditions?.map(({ type, reason, observedGeneration }) => [type, reason, observedGeneration]),
    [
      ['Suspended', 'NotSuspended', 2],
      ['Finished', 'PodSucceeded', 2],
      ['Ready', 'SandboxExpired', 2],
    ],
  );
  assert.deepEqual(Object.keys(expired), ['conditions']);
});

const started = desiredStatus(aSandbox(), { backing: withStatus({ phase: 'Pending' }) }, now);
const progress: {
  name: string;
  before?: SandboxStatus;
  pod: PodStatus;
  generation?: number;
  want: boolean;
}[] = [
  { name: 'the first status is', pod: { phase: 'Pending' }, want: false },
  {
    name: 'scheduled and running, not yet ready, is not',
    before: started,
    pod: { ...readyPod, conditions: [{ type: 'PodScheduled', status: 'True' }] },
    want: true,
  },
  { name: 'Ready is', before: started, pod: readyPod, want: false },
  { name: 'an end is', before: started, pod: { phase: 'Failed' }, want: false },
  {
    name: 'a pod that fits nowhere is',
    before: started,
    pod: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    },
    want: false,
  },
  {
    name: 'a new generation is (SB-138)',
    before: started,
    pod: { phase: 'Pending' },
    generation: 2,
    want: false,
  },
];

for (const { name, before, pod, generation = 1, want } of progress) {
  test(`${name} news worth a write of its own during a start`, () => {
    const sandbox = aSandbox({ metadata: { generation }, ...(before ? { status: before } : {}) });
    const after = desiredStatus(sandbox, { backing: withStatus(pod) }, now);
    assert.equal(isOnlyProgress(before, after), want);
  });
}
