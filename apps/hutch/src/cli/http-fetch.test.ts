import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { FetchInit } from '@hutch/sdk';
import { httpFetch } from './http-fetch.ts';

async function serving(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const get: FetchInit = {
  method: 'GET',
  headers: {},
  redirect: 'manual',
  signal: new AbortController().signal,
};

test('sends method, headers and body, and gives status and JSON back', async () => {
  await using server = await serving((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      response.writeHead(201);
      response.end(JSON.stringify({ method: request.method, seen: request.headers['x-seen'], body }));
    });
  });
  const answer = await httpFetch(server.url, {
    ...get,
    method: 'PUT',
    headers: { 'x-seen': 'yes' },
    body: 'žluť',
  });
  assert.deepEqual([answer.ok, answer.status], [true, 201]);
  assert.deepEqual(await answer.json(), { method: 'PUT', seen: 'yes', body: 'žluť' });
});

test('a body is read as it comes, and leaving it closes the connection', async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await serving((_, response) => {
    response.write('first');
    response.once('close', () => closed.resolve());
  });
  const reader = (await httpFetch(server.url, get)).body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  assert.equal(Buffer.from(value ?? []).toString(), 'first');
  await reader?.cancel();
  await closed.promise;
});

test('an abort and a refused connection reject', async () => {
  await using server = await serving(() => {});
  const abort = new AbortController();
  const waiting = httpFetch(server.url, { ...get, signal: abort.signal });
  abort.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await assert.rejects(httpFetch('http://127.0.0.1:1', get), { code: 'ECONNREFUSED' });
});
