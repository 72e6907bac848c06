import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '@hutch/base';
import type { Probe } from '@hutch/kube-meta';
import { aContainer } from '../test-objects.ts';
import { keepProbing, type ProbeOutcome, probeOnce } from './prober.ts';

async function listening(onConnection: (socket: Socket) => void) {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

const answering = (head: string) => (socket: Socket) => {
  socket.once('data', () => socket.end(head));
  socket.on('error', () => {});
};

const never = new AbortController().signal;
const ask = (probe: Probe, container = aContainer()) =>
  probeOnce({ ip: '127.0.0.1', container, probe }, never);

const answers: [name: string, head: string, want: RegExp | undefined][] = [
  ['200', 'HTTP/1.1 200 OK\r\n\r\n', undefined],
  ['a redirect', 'HTTP/1.0 302 Found\r\n\r\n', undefined],
  ['404', 'HTTP/1.1 404 Not Found\r\n\r\n', /status 404/],
  ['something else', 'hello\r\n', /not an HTTP answer/],
  ['nothing', '', /closed/],
];

for (const [name, head, want] of answers) {
  test(`an HTTP probe answered with ${name} ${want ? 'fails' : 'succeeds'}`, async () => {
    await using server = await listening(answering(head));
    const problem = await ask({ httpGet: { port: server.port, path: 'health' } });
    if (want) assert.match(problem ?? '', want);
    else assert.equal(problem, undefined);
  });
}

test('a TCP probe is content with a connection, also by the name of its port', async () => {
  await using server = await listening((socket) => socket.destroy());
  assert.equal(await ask({ tcpSocket: { port: server.port } }), undefined);
  const container = aContainer({ ports: [{ name: 'web', containerPort: server.port }] });
  assert.equal(await ask({ tcpSocket: { port: 'web' } }, container), undefined);
  assert.match((await ask({ tcpSocket: { port: 'other' } }, container)) ?? '', /no port named other/);
});

test('nobody listening is an answer', async () => {
  const server = await listening(() => {});
  await server[Symbol.asyncDispose]();
  assert.match((await ask({ tcpSocket: { port: server.port } })) ?? '', /ECONNREFUSED/);
});

test('a probe that hangs fails after its timeout', async () => {
  const sockets = new Set<Socket>();
  await using server = await listening((socket) => void sockets.add(socket));
  assert.match((await ask({ httpGet: { port: server.port }, timeoutSeconds: 0.02 })) ?? '', /abort|timeout/i);
  for (const socket of sockets) socket.destroy();
});

test('readiness is told when it turns: at the first success, and after enough failures', async () => {
  let head = 'HTTP/1.1 503 No\r\n\r\n';
  await using server = await listening((socket) => answering(head)(socket));
  const stop = new AbortController();
  const slept: number[] = [];
  const outcomes: ProbeOutcome[] = [];
  const clock = {
    now: systemClock.now,
    sleep: async (ms: number) => {
      slept.push(ms);
      if (slept.length === 4) head = 'HTTP/1.1 200 OK\r\n\r\n';
      if (slept.length === 6) head = 'HTTP/1.1 500 No\r\n\r\n';
      if (slept.length === 12) stop.abort();
    },
  };
  const onChange = (outcome: ProbeOutcome) => void outcomes.push(outcome);
  const probe = { httpGet: { port: server.port }, periodSeconds: 3 };
  const target = { ip: '127.0.0.1', container: aContainer(), probe };
  await keepProbing(target, { isReady: false, clock, onChange }, stop.signal);
  assert.deepEqual(outcomes, [
    { isReady: true },
    { isReady: false, message: 'HTTP probe failed with status 500' },
  ]);
  assert.deepEqual(slept.slice(0, 3), [0, 5, 6.5], 'asks quickly until the first success');
  assert.deepEqual(slept.slice(5, 7), [3_000, 3_000], 'then at its period');
});

test('what was ready before and does not answer any more is told after enough failures', async () => {
  const server = await listening(() => {});
  await server[Symbol.asyncDispose]();
  const stop = new AbortController();
  const slept: number[] = [];
  const outcomes: ProbeOutcome[] = [];
  const clock = {
    now: systemClock.now,
    sleep: async (ms: number) => {
      slept.push(ms);
      if (slept.length === 6) stop.abort();
    },
  };
  const onChange = (outcome: ProbeOutcome) => void outcomes.push(outcome);
  const probe = { tcpSocket: { port: server.port }, periodSeconds: 3 };
  const target = { ip: '127.0.0.1', container: aContainer(), probe };
  await keepProbing(target, { isReady: true, clock, onChange }, stop.signal);
  assert.equal(outcomes.length, 1);
  assert.equal(outcomes[0]?.isReady, false);
  assert.deepEqual(slept, [0, 3_000, 3_000, 3_000, 3_000, 3_000], 'at its period from the beginning');
});
