import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Log, silentLog } from '@hutch/base';
import { createKubeClient, inProcess } from '@hutch/kube-client';
import { type ApiRequest, type ApiResponse, notFound, pods, statusFault } from '@hutch/kube-meta';
import { aNamespace, aPod, FakeClock } from '@hutch/testing';
import { createEventRecorder } from './event-recorder.ts';

interface Setting {
  readonly answer?: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;
  readonly log?: Log;
}

/** A recorder, and the bodies of the writes it makes. `written(n)` waits for the n-th. */
function started({ answer = accept, log = silentLog }: Setting = {}) {
  const clock = new FakeClock();
  const writes: { method: string; path: string; body: Record<string, unknown> }[] = [];
  let notify = () => {};
  const client = createKubeClient(
    inProcess(
      async (request) => {
        const { method, path, body } = request;
        writes.push({ method, path, body: body as Record<string, unknown> });
        notify();
        return await answer(request);
      },
      { name: 'tester', groups: [] },
    ),
  );
  const recorder = createEventRecorder({ client, component: 'tester', clock, log });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  return {
    clock,
    recorder,
    writes,
    async written(count: number) {
      while (writes.length < count) {
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
      await nextTurn(); // the answer is taken in
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

function accept({ body }: ApiRequest): ApiResponse {
  return { type: 'object', status: 200, object: body as never };
}

const created = { type: 'Normal', reason: 'Created', message: 'it was created' } as const;

test('an event names its object, its source and its time', async () => {
  await using run = started();
  run.recorder.record(aPod({ metadata: { name: 'p', namespace: 'ns' } }), created);
  await run.written(1);
  const [write] = run.writes;
  assert.ok(write);
  assert.equal(write.path, '/api/v1/namespaces/ns/events');
  const { metadata, ...event } = write.body;
  assert.match((metadata as { name: string }).name, /^p\.[0-9a-f]+$/);
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: 'ns',
      name: 'p',
      uid: 'uid-of-p',
      resourceVersion: '1',
    },
    ...created,
    source: { component: 'tester' },
    reportingComponent: 'tester',
    reportingInstance: '',
    firstTimestamp: '2030-01-01T00:00:00Z',
    lastTimestamp: '2030-01-01T00:00:00Z',
    count: 1,
  });
});

test('an event of a cluster-scoped object goes to the default namespace', async () => {
  await using run = started();
  run.recorder.record(aNamespace({ metadata: { name: 'ns' } }), created);
  await run.written(1);
  assert.equal(run.writes[0]?.path, '/api/v1/namespaces/default/events');
});

test('the same event again raises the count of the first', async () => {
  await using run = started();
  run.recorder.record(aPod(), created);
  await run.written(1);
  await run.clock.advance(5_000);
  run.recorder.record(aPod(), created);
  await run.written(2);
  assert.equal(run.writes[1]?.method, 'PATCH');
  assert.deepEqual(run.writes[1]?.body, { count: 2, lastTimestamp: '2030-01-01T00:00:05Z' });
});

test('repeats that pile up while one is written are written once', async () => {
  const gate = Promise.withResolvers<void>();
  await using run = started({
    answer: async (request) => {
      await gate.promise;
      return accept(request);
    },
  });
  run.recorder.record(aPod(), created);
  await run.written(1);
  for (let i = 0; i < 7; i++) run.recorder.record(aPod(), created);
  gate.resolve();
  await run.written(2);
  assert.equal(run.writes[1]?.body.count, 8);
});

test('after ten minutes, or when the first is gone, it is told as a new event', async () => {
  await using run = started({
    answer: (request) =>
      request.method === 'PATCH'
        ? { type: 'object', status: 404, object: notFound(pods, 'e').status }
        : accept(request),
  });
  run.recorder.record(aPod(), created);
  await run.written(1);
  run.recorder.record(aPod(), created);
  await run.written(3);
  await run.clock.advance(600_000);
  run.recorder.record(aPod(), created);
  await run.written(4);
  assert.deepEqual(
    run.writes.map(({ method }) => method),
    ['POST', 'PATCH', 'POST', 'POST'],
  );
});

test('an object that tells too much is cut short, others are not', async () => {
  await using run = started();
  const noisy = aPod({ metadata: { name: 'noisy' } });
  for (let i = 0; i < 100; i++) run.recorder.record(noisy, { ...created, message: `no ${i}` });
  run.recorder.record(aPod({ metadata: { name: 'other' } }), created);
  await run.written(26);
  assert.equal(run.writes.at(-1)?.body.message, created.message);
  await run.clock.advance(5 * 60_000);
  run.recorder.record(noisy, { ...created, message: 'later' });
  await run.written(27);
});

test('a write that fails is logged, and the next is written', async () => {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => lines.push(message) };
  let calls = 0;
  await using run = started({
    log,
    answer: (request) => {
      if (++calls > 1) return accept(request);
      return { type: 'object', status: 403, object: statusFault('forbidden', 'ns is terminating').status };
    },
  });
  run.recorder.record(aPod(), created);
  run.recorder.record(aPod(), { ...created, reason: 'Started' });
  await run.written(2);
  assert.deepEqual(lines, ['event not written']);
});
