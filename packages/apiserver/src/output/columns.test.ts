import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject } from '../kinds/kind.ts';
import { podCells, podConditions } from './pod-row.ts';

const now = new Date('2030-01-01T01:00:00Z');

function aPod(spec: object, status: object, metadata: object = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2030-01-01T00:00:00Z',
      ...metadata,
    },
    spec,
    status,
  };
}

const one = { containers: [{ name: 'c' }] };
const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } };

describe('the row of a pod', () => {
  const cases: { name: string; pod: ApiObject; want: string[] }[] = [
    { name: 'that waits', pod: aPod(one, { phase: 'Pending' }), want: ['0/1', 'Pending', '0'] },
    {
      name: 'that runs',
      pod: aPod(one, { phase: 'Running', containerStatuses: [running] }),
      want: ['1/1', 'Running', '0'],
    },
    {
      name: 'that crashes',
      pod: aPod(one, {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'c',
            restartCount: 3,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { finishedAt: '2030-01-01T00:58:00Z' } },
          },
        ],
      }),
      want: ['0/1', 'CrashLoopBackOff', '3 (2m ago)'],
    },
    {
      name: 'that ended badly',
      pod: aPod(one, {
        phase: 'Failed',
        containerStatuses: [{ name: 'c', restartCount: 0, state: { terminated: { exitCode: 2 } } }],
      }),
      want: ['0/1', 'ExitCode:2', '0'],
    },
    {
      name: 'that is done',
      pod: aPod(one, {
        phase: 'Succeeded',
        containerStatuses: [
          { name: 'c', restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
        ],
      }),
      want: ['0/1', 'Completed', '0'],
    },
    {
      name: 'of which one container is done',
      pod: aPod(
        { containers: [{ name: 'a' }, { name: 'b' }] },
        {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'False' }],
          containerStatuses: [
            { name: 'a', restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
            { ...running, name: 'b' },
          ],
        },
      ),
      want: ['1/2', 'NotReady', '0'],
    },
    {
      name: 'in its first init container',
      pod: aPod(
        { ...one, initContainers: [{ name: 'i' }, { name: 'j' }] },
        { phase: 'Pending', initContainerStatuses: [{ name: 'i', restartCount: 0, state: { running: {} } }] },
      ),
      want: ['0/1', 'Init:0/2', '0'],
    },
    {
      name: 'with a sidecar',
      pod: aPod(
        { ...one, initContainers: [{ name: 's', restartPolicy: 'Always' }] },
        {
          phase: 'Running',
          initContainerStatuses: [{ ...running, name: 's', started: true }],
          containerStatuses: [running],
        },
      ),
      want: ['2/2', 'Running', '0'],
    },
    {
      name: 'that is told to go',
      pod: aPod(
        one,
        { phase: 'Running', containerStatuses: [running] },
        { deletionTimestamp: '2030-01-01T00:59:00Z' },
      ),
      want: ['1/1', 'Terminating', '0'],
    },
    {
      name: 'that a gate holds',
      pod: aPod(one, {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
      }),
      want: ['0/1', 'SchedulingGated', '0'],
    },
  ];
  for (const { name, pod, want } of cases) {
    test(name, () => assert.deepEqual(podCells(pod, now).slice(1, 4), want));
  }

  test('has its age and where it is', () => {
    const pod = aPod({ ...one, nodeName: 'n' }, { podIPs: [{ ip: '10.0.0.1' }] });
    assert.deepEqual(podCells(pod, now).slice(4), ['60m', '10.0.0.1', 'n', '<none>', '<none>']);
  });

  test('is marked when it has ended', () => {
    assert.equal(podConditions(aPod(one, { phase: 'Running' })).length, 0);
    assert.equal(podConditions(aPod(one, { phase: 'Failed' })).length, 1);
  });
});
