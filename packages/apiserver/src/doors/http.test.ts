/** What is special about the HTTP door: bytes, limits, credentials, and readers that do not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Fault, silentLog, systemClock } from '@hutch/base';
import type { Status } from '@hutch/kube-meta';
import { openMemoryStorage } from '@hutch/storage';
import { bearerTokens } from '../access/authentication.ts';
import { rulesAuthorizer } from '../access/authorization.ts';
import type { NodeStreams } from '../node-streams.ts';
import { createApiServer } from '../server.ts';
import { admin, aPod } from '../test-rig.ts';
import { ensureCertificates } from './certificates.ts';
import { serveHttp, serveHttps } from './http.ts';

function aServer(more: { nodeStreams?: NodeStreams; watchCapacity?: number } = {}) {
  const { watchCapacity = 1_000, ...rest } = more;
  return createApiServer({
    storage: openMemoryStorage({ watchCapacity }),
    clock: systemClock,
    authenticator: bearerTokens([{ token: 'secret', user: admin }]),
    authorizer: rulesAuthorizer({}),
    log: silentLog,
    ...rest,
  });
}

const authorization = 'Bearer secret';
const jsonHeaders = { authorization, 'content-type': 'application/json' };
const namespace = JSON.stringify({ metadata: { name: 'default' } });

async function statusOf(response: Response): Promise<Status> {
  assert.equal(response.headers.get('content-type'), 'application/json');
  return (await response.json()) as Status;
}

test('without a credential only health and version are shown; a wrong one is 401', async () => {
  await using door = await serveHttp(aServer());
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
    assert.equal((await fetch(door.url + path)).status, 200);
  }
  const anonymous = await fetch(`${door.url}/api/v1/pods`);
  assert.equal(anonymous.status, 403);
  assert.match(
    (await statusOf(anonymous)).message ?? '',
    /User "system:anonymous" cannot list resource "pods"/,
  );
  for (const header of ['Bearer wrong', 'Bearer ', 'Basic c2VjcmV0', 'secret']) {
    const wrong = await fetch(`${door.url}/healthz`, { headers: { authorization: header } });
    assert.equal(wrong.status, 401);
    assert.equal((await statusOf(wrong)).reason, 'Unauthorized');
  }
});

test('a body without a content type is JSON', async () => {
  await using door = await serveHttp(aServer());
  const socket = connect(door.port, door.host);
  const head = `POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
  socket.write(`${head}Content-Length: ${namespace.length}\r\n\r\n${namespace}`);
  assert.match(await readAll(socket), /^HTTP\/1\.1 201 Created\r\n/);
});

test('what is not JSON, or not what it says it is, is refused', async () => {
  await using door = await serveHttp(aServer());
  const post = (body: string, contentType: string) =>
    fetch(`${door.url}/api/v1/namespaces`, {
      method: 'POST',
      body,
      headers: { authorization, 'content-type': contentType },
    });
  const broken = await post('{"a":', 'application/json');
  assert.equal(broken.status, 400);
  assert.equal((await statusOf(broken)).reason, 'BadRequest');
  assert.equal((await post('a: b', 'application/yaml')).status, 415);
  assert.equal((await post('', 'application/json')).status, 400);
  assert.equal((await post(`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'application/json')).status, 400);
  const nested = `{"metadata":{"name":"a"},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.equal((await post(nested, 'application/json')).status, 400);
  assert.equal((await post(namespace, 'application/json; charset=utf-8')).status, 201);
});

test('a body that is too large is 413, announced or not, and the connection lives on', async () => {
  await using door = await serveHttp(aServer());
  const large = 'x'.repeat(3 * 1024 * 1024 + 1);
  const headers = { authorization, 'content-type': 'application/json' };
  const announced = await fetch(`${door.url}/api/v1/namespaces`, { method: 'POST', body: large, headers });
  assert.equal(announced.status, 413);
  assert.equal((await statusOf(announced)).reason, 'RequestEntityTooLarge');
  const chunks = new Blob([large]).stream();
  const chunked = await fetch(`${door.url}/api/v1/namespaces`, {
    method: 'POST',
    body: chunks,
    duplex: 'half',
    headers,
  });
  assert.equal(chunked.status, 413);
  assert.equal((await fetch(`${door.url}/healthz`)).status, 200);
});

test('HEAD answers like GET where Kubernetes does, without a body; other methods are 405', async () => {
  await using door = await serveHttp(aServer());
  const call = (method: string, path: string) =>
    fetch(door.url + path, { method, headers: { authorization } });
  const head = await call('HEAD', '/healthz');
  assert.equal(head.status, 200);
  assert.ok(Number(head.headers.get('content-length')) > 0);
  assert.equal(await head.text(), '');
  assert.equal((await call('HEAD', '/api/v1/pods')).status, 405);
  const options = await call('OPTIONS', '/api/v1/pods');
  assert.equal(options.status, 405);
  assert.equal((await statusOf(options)).reason, 'MethodNotAllowed');
});

test('a watcher that does not read costs a bounded amount and is dropped; others go on', async () => {
  const server = aServer({ watchCapacity: 20 });
  await using door = await serveHttp(server);
  const call = (method: 'POST' | 'PATCH', path: string, body: unknown, contentType?: string) =>
    server.handle({
      method,
      path,
      query: new URLSearchParams(),
      body,
      contentType,
      user: admin,
      signal: new AbortController().signal,
    });
  await call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } });

  const socket = connect(door.port, door.host);
  socket.write(
    `GET /api/v1/namespaces?watch=true HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
  );
  await once(socket, 'readable'); // begun; from here on nothing is read

  // More than sockets of any size hold: each round replaces a large annotation.
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 400; round++) {
    const body = { metadata: { annotations: { large: `${round}${'x'.repeat(100_000)}` } } };
    await call('PATCH', '/api/v1/namespaces/default', body, 'application/merge-patch+json');
    await new Promise(setImmediate);
  }
  assert.ok(process.memoryUsage().rss - before < 400_000_000);
  const text = await readAll(socket, '"code":410');
  assert.match(text, /"type":"ERROR"/);
});

test('the log of a pod streams as it is written, and its source ends with the reader', async () => {
  const ended = Promise.withResolvers<void>();
  const server = aServer({
    nodeStreams: {
      async *logs(_pod, _options, signal) {
        signal.addEventListener('abort', () => ended.resolve(), { once: true });
        yield Buffer.from('first\n');
        await ended.promise;
      },
    },
  });
  await using door = await serveHttp(server);
  const post = (path: string, body: string) =>
    fetch(door.url + path, {
      method: 'POST',
      body,
      headers: { authorization, 'content-type': 'application/json' },
    });
  await post('/api/v1/namespaces', namespace);
  await post('/api/v1/namespaces/default/serviceaccounts', namespace);
  await post('/api/v1/namespaces/default/pods', JSON.stringify(aPod('a', { nodeName: 'n' })));
  const stop = new AbortController();
  const response = await fetch(`${door.url}/api/v1/namespaces/default/pods/a/log?follow=true`, {
    headers: { authorization },
    signal: stop.signal,
  });
  assert.equal(response.headers.get('content-type'), 'text/plain');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  assert.equal(Buffer.from(value ?? []).toString(), 'first\n');
  stop.abort();
  await ended.promise;
});

test('HTTPS is served with a certificate that the CA vouches for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hutch-tls-'));
  try {
    const certificates = await ensureCertificates(directory, { clock: systemClock });
    await using door = await serveHttps(aServer(), certificates);
    for (const host of ['127.0.0.1', 'localhost']) {
      const request = httpsRequest({
        host,
        port: door.port,
        path: '/healthz',
        ca: certificates.ca,
        agent: false,
      });
      request.end();
      const [response] = (await once(request, 'response')) as [
        NodeJS.ReadableStream & { statusCode: number },
      ];
      assert.equal(response.statusCode, 200);
      response.resume();
      await once(response, 'end');
    }
    const distrustful = httpsRequest({ host: '127.0.0.1', port: door.port, path: '/healthz', agent: false });
    distrustful.end();
    const [err] = (await once(distrustful, 'error')) as [NodeJS.ErrnoException];
    assert.match(String(err.code), /SELF_SIGNED|UNABLE_TO/);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('closing ends watches and connections', async () => {
  const door = await serveHttp(aServer());
  const response = await fetch(`${door.url}/api/v1/pods?watch=true`, { headers: { authorization } });
  await door[Symbol.asyncDispose]();
  await assert.rejects(response.text());
});

test('what finds no room is told to come back, and watches take none', async () => {
  await using door = await serveHttp(aServer(), { limits: { maxReads: 1, maxWrites: 1 } });
  const get = (path: string) => fetch(door.url + path, { headers: { authorization } });
  const watch = await get('/api/v1/namespaces?watch=true');

  // A write that has begun and is not over: its body is still to come.
  const slow = connect(door.port, door.host);
  const head = `POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
  slow.write(`${head}Content-Length: ${namespace.length}\r\nExpect: 100-continue\r\n\r\n`);
  await once(slow, 'readable'); // the server has asked for the body, so the request has its place
  const refused = await fetch(`${door.url}/api/v1/namespaces`, {
    method: 'POST',
    body: namespace,
    headers: jsonHeaders,
  });
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await statusOf(refused)).reason, 'TooManyRequests');
  assert.equal((await get('/api/v1/namespaces')).status, 200);

  slow.write(namespace);
  assert.match(await readAll(slow), /HTTP\/1\.1 201 Created/);
  const again = await fetch(`${door.url}/api/v1/namespaces`, {
    method: 'POST',
    body: JSON.stringify({ metadata: { name: 'other' } }),
    headers: jsonHeaders,
  });
  assert.equal(again.status, 201);
  await watch.body?.cancel();
});

test('bodies take no more memory together than they may', async () => {
  await using door = await serveHttp(aServer(), { limits: { maxBodyBytes: 1_000 } });
  const post = (name: string, padding: number) =>
    fetch(`${door.url}/api/v1/namespaces`, {
      method: 'POST',
      body: JSON.stringify({ metadata: { name }, padding: 'x'.repeat(padding) }),
      headers: jsonHeaders,
    });
  assert.equal((await post('a', 2_000)).status, 429);
  assert.equal((await post('a', 10)).status, 201);
  assert.equal((await post('b', 500)).status, 201);
});

test('large answers are packed for those who unpack, and laid out for those who look', async () => {
  await using door = await serveHttp(aServer());
  const headers = { authorization, 'content-type': 'application/json' };
  for (const [name, bytes] of [
    ['large', 200_000],
    ['small', 10],
  ] as const) {
    const annotations = { text: 'x'.repeat(bytes) };
    const body = JSON.stringify({ metadata: { name, annotations } });
    assert.equal(
      (await fetch(`${door.url}/api/v1/namespaces`, { method: 'POST', body, headers })).status,
      201,
    );
  }
  const encoding = async (name: string, accepted: string) => {
    const response = await fetch(`${door.url}/api/v1/namespaces/${name}`, {
      headers: { authorization, 'accept-encoding': accepted },
    });
    assert.equal(((await response.json()) as { metadata: { name: string } }).metadata.name, name);
    return response.headers.get('content-encoding');
  };
  assert.equal(await encoding('large', 'gzip'), 'gzip');
  assert.equal(await encoding('large', 'br, gzip;q=0.5'), 'gzip');
  assert.equal(await encoding('large', 'gzip;q=0'), null);
  assert.equal(await encoding('large', 'identity'), null);
  assert.equal(await encoding('small', 'gzip'), null);
  const pretty = await fetch(`${door.url}/api/v1/namespaces/small?pretty=true`, { headers });
  assert.match(await pretty.text(), /^\{\n {2}"/);
});

test('a member named twice is warned of, or refused', async () => {
  await using door = await serveHttp(aServer());
  const post = (query: string) =>
    fetch(`${door.url}/api/v1/namespaces${query}`, {
      method: 'POST',
      body: '{"metadata":{"name":"a","name":"b"}}',
      headers: { authorization, 'content-type': 'application/json' },
    });
  const strict = await post('?fieldValidation=Strict');
  assert.equal(strict.status, 400);
  assert.match(
    (await statusOf(strict)).message ?? '',
    /strict decoding error: duplicate field "metadata.name"/,
  );
  const warned = await post('');
  assert.equal(warned.status, 201);
  assert.equal(warned.headers.get('warning'), '299 - "duplicate field \\"metadata.name\\""');
});

test('a log that cannot be read is answered as any failure; one of a pod nobody runs is empty', async () => {
  const server = aServer({
    nodeStreams: {
      // biome-ignore lint/correctness/useYield: it fails before it has anything to give
      async *logs() {
        throw new Fault('not-found', 'container c has not started');
      },
    },
  });
  await using door = await serveHttp(server);
  const post = (path: string, body: unknown) =>
    fetch(door.url + path, { method: 'POST', body: JSON.stringify(body), headers: jsonHeaders });
  await post('/api/v1/namespaces', { metadata: { name: 'default' } });
  await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await post('/api/v1/namespaces/default/pods', aPod('a', { nodeName: 'n' }));
  await post('/api/v1/namespaces/default/pods', aPod('b'));
  const log = (name: string) =>
    fetch(`${door.url}/api/v1/namespaces/default/pods/${name}/log`, { headers: { authorization } });
  const failed = await log('a');
  assert.equal(failed.status, 404);
  assert.match((await statusOf(failed)).message ?? '', /has not started/);
  assert.equal((await log('b')).status, 204);
});

test('a port that is taken is told as such', async () => {
  await using door = await serveHttp(aServer());
  await assert.rejects(serveHttp(aServer(), { port: door.port }), { code: 'already-exists' });
});

test('headers that go on for ever are cut off', async () => {
  await using door = await serveHttp(aServer());
  const response = await fetch(`${door.url}/api/v1/namespaces?x=${'x'.repeat(100_000)}`, {
    headers: { authorization },
  });
  assert.equal(response.status, 431);
});

async function readAll(socket: Socket, until?: string): Promise<string> {
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString('latin1');
    if (until !== undefined && text.includes(until)) break;
  }
  return text;
}
