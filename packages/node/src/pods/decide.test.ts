import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@hutch/kube-meta';
import type { Exit } from '../containers/runtime.ts';
import { anExit, aPod } from '../test-objects.ts';
import { type ContainerView, decide, isCrash, type Observed, restartAt } from './decide.ts';

const now = new Date('2030-01-01T00:00:20Z');

function container(state: ContainerView['state'], overrides: Partial<ContainerView> = {}): ContainerView {
  return { name: 'main', attempt: 0, state, crashes: 0, ...overrides };
}

const absent = container({ type: 'absent' });
const running = container({ type: 'running', startedAt: '2030-01-01T00:00:00Z', isReady: true });
const exited = (exit: Partial<Exit> = {}, overrides: Partial<ContainerView> = {}) =>
  container({ type: 'exited', exit: anExit(exit) }, { crashes: 1, ...overrides });

const policy = (restartPolicy: 'Always' | 'OnFailure' | 'Never') => aPod({ restartPolicy });
const deleted = (graceSeconds: number): Pod =>
  aPod({}, { deletionTimestamp: '2030-01-01T00:00:20Z', deletionGracePeriodSeconds: graceSeconds });

const cases: { name: string; observed: Partial<Observed>; want: string[]; wakeAfterMs?: number }[] = [
  {
    name: 'a new pod is set up and started',
    observed: { containers: [absent] },
    want: ['set-up', 'start main 0'],
  },
  {
    name: 'one that is set up is only started',
    observed: { isSetUp: true, containers: [absent] },
    want: ['start main 0'],
  },
  { name: 'a running one is left alone', observed: { isSetUp: true, containers: [running] }, want: [] },
  {
    name: 'the first restart is immediate',
    observed: { isSetUp: true, containers: [exited({ exitCode: 1 })] },
    want: ['start main 1'],
  },
  {
    name: 'the second waits',
    observed: {
      isSetUp: true,
      containers: [exited({ finishedAt: '2030-01-01T00:00:15.000Z' }, { attempt: 1, crashes: 2 })],
    },
    want: [],
    wakeAfterMs: 5_000,
  },
  {
    name: 'and comes when the wait is over',
    observed: { isSetUp: true, containers: [exited({}, { attempt: 1, crashes: 2 })] },
    want: ['start main 2'],
  },
  {
    name: 'success is final under OnFailure',
    observed: { pod: policy('OnFailure'), isSetUp: true, containers: [exited()] },
    want: ['tear-down'],
  },
  {
    name: 'failure is not final under OnFailure',
    observed: { pod: policy('OnFailure'), isSetUp: true, containers: [exited({ exitCode: 3 })] },
    want: ['start main 1'],
  },
  {
    name: 'any end is final under Never, and torn down once',
    observed: { pod: policy('Never'), isSetUp: false, containers: [exited({ exitCode: 3 })] },
    want: [],
  },
  {
    name: 'a refused pod is not started',
    observed: { refusal: { reason: 'UnsupportedPod', message: '' }, containers: [absent] },
    want: [],
  },
  {
    name: 'a pod refused late is torn down',
    observed: { refusal: { reason: 'ErrImagePull', message: '' }, isSetUp: true, containers: [absent] },
    want: ['tear-down'],
  },
  {
    name: 'a pod that was over before we came stays over',
    observed: { isOver: true, containers: [absent] },
    want: [],
  },
  {
    name: 'a deleted pod is asked to end',
    observed: { pod: deleted(30), isSetUp: true, containers: [running] },
    want: ['stop SIGTERM'],
  },
  {
    name: 'given its grace',
    observed: {
      pod: deleted(30),
      isSetUp: true,
      containers: [running],
      stopping: { since: new Date('2030-01-01T00:00:10Z'), signal: 'SIGTERM' },
    },
    want: [],
    wakeAfterMs: 20_000,
  },
  {
    name: 'and killed after it',
    observed: {
      pod: deleted(5),
      isSetUp: true,
      containers: [running],
      stopping: { since: new Date('2030-01-01T00:00:10Z'), signal: 'SIGTERM' },
    },
    want: ['stop SIGKILL'],
  },
  {
    name: 'a killed one is waited for, not killed again and again',
    observed: {
      pod: deleted(0),
      isSetUp: true,
      containers: [running],
      stopping: { since: now, signal: 'SIGKILL' },
    },
    want: [],
  },
  {
    name: 'no grace means no asking',
    observed: { pod: deleted(0), isSetUp: true, containers: [running] },
    want: ['stop SIGKILL'],
  },
  {
    name: 'a pod gone from the API is killed at once',
    observed: { isGone: true, isSetUp: true, containers: [running] },
    want: ['stop SIGKILL'],
  },
  {
    name: 'a deleted pod whose containers ended is torn down, released and forgotten',
    observed: { pod: deleted(30), isSetUp: true, containers: [exited()] },
    want: ['tear-down', 'release-object', 'forget'],
  },
  {
    name: 'a pod gone from the API is not released there',
    observed: { isGone: true, isSetUp: true, containers: [exited()] },
    want: ['tear-down', 'forget'],
  },
  {
    name: 'a deleted pod is never started',
    observed: { pod: deleted(30), containers: [absent] },
    want: ['release-object', 'forget'],
  },
  {
    name: 'after a failed step nothing is tried before its time',
    observed: { retry: { at: new Date('2030-01-01T00:00:21Z'), isOfEnd: false }, containers: [absent] },
    want: [],
    wakeAfterMs: 1_000,
  },
  {
    name: 'a deleted pod that could not be started does not wait to be tried again',
    observed: {
      pod: deleted(30),
      isSetUp: true,
      retry: { at: new Date('2030-01-01T00:01:20Z'), isOfEnd: false },
      containers: [absent],
    },
    want: ['tear-down', 'release-object', 'forget'],
  },
  {
    name: 'a pod gone from the API does not either',
    observed: {
      isGone: true,
      retry: { at: new Date('2030-01-01T00:01:20Z'), isOfEnd: false },
      containers: [absent],
    },
    want: ['forget'],
  },
  {
    name: 'a deleted pod that could not be torn down waits before the next try',
    observed: {
      pod: deleted(30),
      isSetUp: true,
      retry: { at: new Date('2030-01-01T00:00:21Z'), isOfEnd: true },
      containers: [absent],
    },
    want: [],
    wakeAfterMs: 1_000,
  },
];

for (const { name, observed, want, wakeAfterMs } of cases) {
  test(name, () => {
    const whole = { pod: aPod(), isGone: false, isOver: false, isSetUp: false, containers: [], ...observed };
    const decision = decide(whole, now);
    const texts = decision.actions.map((action) => {
      if (action.type === 'start') return `start ${action.container} ${action.attempt}`;
      return action.type === 'stop' ? `stop ${action.signal}` : action.type;
    });
    assert.deepEqual(texts, want);
    assert.equal(decision.wakeAfterMs, wakeAfterMs);
  });
}

test('waits between restarts double and are capped', () => {
  const waits = [1, 2, 3, 4, 20].map(
    (crashes) => restartAt(anExit(), crashes).getTime() - Date.parse(anExit().finishedAt),
  );
  assert.deepEqual(waits, [0, 10_000, 20_000, 40_000, 300_000]);
});

test('an end after ten minutes is no crash', () => {
  assert.equal(isCrash(anExit({ finishedAt: '2030-01-01T00:09:59.000Z' })), true);
  assert.equal(isCrash(anExit({ finishedAt: '2030-01-01T00:10:00.000Z' })), false);
});
