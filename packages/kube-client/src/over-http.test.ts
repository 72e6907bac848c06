import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Channel } from '@hutch/base';
import { pods, type WatchEvent } from '@hutch/kube-meta';
import { overHttp } from './over-http.ts';
import { openTestDoor } from './test-door.ts';
import { describeTransportContract } from './transport-contract.ts';
import { createKubeClient } from './verbs.ts';

describeTransportContract('over HTTP', async (handle) => {
  const door = await openTestDoor(handle);
  const transport = overHttp({ url: door.url });
  return {
    transport,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      await door[Symbol.asyncDispose]();
    },
  };
});

/** A server that answers the first bytes of each connection with exactly `bytes`, then hangs up. */
async function rawServer(bytes: string) {
  const heads: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      heads.push(head.toString());
      socket.end(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    heads,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

test('a server that is not there is unavailable', async () => {
  const { url, ...server } = await rawServer('');
  await server[Symbol.asyncDispose]();
  await using transport = overHttp({ url });
  const call = createKubeClient(transport).get(pods, { namespace: 'ns', name: 'a' });
  await assert.rejects(call, { code: 'unavailable', message: /^GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\// });
});

test('the token is sent with every request', async () => {
  await using server = await rawServer('HTTP/1.1 204 No Content\r\n\r\n');
  await using transport = overHttp({ url: server.url, token: 'secret' });
  await createKubeClient(transport).delete(pods, { namespace: 'ns', name: 'a' });
  assert.match(server.heads[0] ?? '', /^authorization: Bearer secret\r$/im);
});

const broken: { name: string; bytes: string; code: string }[] = [
  { name: 'hangs up instead of answering', bytes: '', code: 'unavailable' },
  {
    name: 'hangs up in the middle of an answer',
    bytes: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"kind"',
    code: 'unavailable',
  },
  {
    name: 'answers what is not JSON',
    bytes: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\nhello',
    code: 'internal',
  },
];

for (const { name, bytes, code } of broken) {
  test(`a server that ${name} makes a call fail as ${code}`, async () => {
    await using server = await rawServer(bytes);
    await using transport = overHttp({ url: server.url });
    await assert.rejects(createKubeClient(transport).list(pods), { code });
  });
}

test('a watch that ends inside an event is unavailable', async () => {
  await using server = await rawServer(
    'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"type":"BOOKMARK","object":{}}\n{"type":',
  );
  await using transport = overHttp({ url: server.url });
  const reader = createKubeClient(transport).watch(pods, {})[Symbol.asyncIterator]();
  assert.equal((await reader.next()).value?.type, 'BOOKMARK');
  await assert.rejects(reader.next(), { code: 'unavailable', message: /in the middle of an event/ });
});

test('a watch whose connection is cut is unavailable', async () => {
  const events = new Channel<WatchEvent>(10);
  await using door = await openTestDoor(async () => ({ type: 'watch', events }));
  await using transport = overHttp({ url: door.url });
  const reader = createKubeClient(transport).watch(pods, {})[Symbol.asyncIterator]();
  events.push({
    type: 'BOOKMARK',
    object: { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: '1' } },
  });
  assert.equal((await reader.next()).value?.type, 'BOOKMARK');
  const failed = assert.rejects(reader.next(), { code: 'unavailable' });
  door.cut();
  await failed;
  events.end();
});
