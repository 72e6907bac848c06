import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hutch/base';
import { StatusFault, statusFault } from '@hutch/kube-meta';
import { createReviews } from './reviews.ts';
import type { Route } from './route-table.ts';
import { ready, startRouter, startSandbox, to, tokenFor, uid } from './test-rig.ts';

const detailOf = async (response: Response) => ((await response.json()) as { detail: string }).detail;
const answering = (text = 'inside') => startSandbox((_request, response) => response.end(text));

describe('health', () => {
  test('is answered without a credential, for any method', async () => {
    await using router = await startRouter();
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await fetch(`${router.url}/healthz`, { method });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.equal(await response.text(), '{"status":"ok"}');
    }
  });
});

describe('who may enter', () => {
  const cases: { name: string; headers: Record<string, string>; status: number; detail?: string }[] = [
    { name: 'nobody without a credential', headers: {}, status: 401, detail: 'unauthenticated' },
    { name: 'the holder of a sandbox token', headers: { 'X-Hutch-Token': tokenFor() }, status: 200 },
    { name: 'the holder of one as bearer', headers: { Authorization: `Bearer ${tokenFor()}` }, status: 200 },
    { name: 'a user who may connect', headers: { Authorization: 'bearer good' }, status: 200 },
    {
      name: 'not a user who may not',
      headers: { Authorization: 'Bearer poor' },
      status: 403,
      detail: 'forbidden',
    },
    {
      name: 'not a stranger',
      headers: { Authorization: 'Bearer x' },
      status: 401,
      detail: 'unauthenticated',
    },
    { name: 'not basic credentials', headers: { Authorization: 'Basic good' }, status: 401 },
    { name: 'not a damaged token', headers: { 'X-Hutch-Token': `${tokenFor()}x` }, status: 401 },
    { name: 'not an expired token', headers: { 'X-Hutch-Token': tokenFor({ expiresAt: 1 }) }, status: 401 },
    {
      name: 'not a token of another sandbox',
      headers: { 'X-Hutch-Token': tokenFor({ name: 'b' }) },
      status: 403,
    },
    {
      name: 'not one of another namespace',
      headers: { 'X-Hutch-Token': tokenFor({ namespace: 'x' }) },
      status: 403,
    },
    { name: 'not one of a namesake', headers: { 'X-Hutch-Token': tokenFor({ uid: 'old' }) }, status: 403 },
    {
      name: 'not one of another claim',
      headers: { 'X-Hutch-Token': tokenFor({ claimUid: 'c' }) },
      status: 403,
    },
    {
      name: 'nobody by a good bearer beside a bad token',
      headers: { 'X-Hutch-Token': 'hutch1.x.y', Authorization: 'Bearer good' },
      status: 401,
    },
  ];
  for (const { name, headers, status, detail } of cases) {
    test(name, async () => {
      await using sandbox = await answering();
      await using router = await startRouter();
      const { 'X-Hutch-Token': _, ...route } = to(sandbox.port);
      const response = await fetch(router.url, { headers: { ...route, ...headers } });
      assert.equal(response.status, status);
      if (status !== 200)
        assert.equal(await detailOf(response), detail ?? (status === 401 ? 'unauthenticated' : 'forbidden'));
    });
  }

  test('bad headers are told before bad credentials', async () => {
    await using router = await startRouter();
    const response = await fetch(router.url, { headers: { 'X-Sandbox-ID': 'A' } });
    assert.equal(response.status, 400);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.equal(await response.text(), '{"detail":"Invalid sandbox ID format."}\n');
  });

  test('without a credential, an unknown sandbox looks like any other', async () => {
    await using router = await startRouter();
    const response = await fetch(router.url, { headers: { 'X-Sandbox-ID': 'unknown' } });
    assert.equal(response.status, 401);
  });
});

describe('which sandbox', () => {
  const ask = async (route: Route | undefined, more: Record<string, string> = {}) => {
    await using sandbox = await answering();
    await using router = await startRouter({ routes: route ? { 'default/a': route } : {} });
    const response = await fetch(router.url, { headers: to(sandbox.port, more) });
    return {
      status: response.status,
      text: await response.text(),
      retryAfter: response.headers.get('retry-after'),
    };
  };

  test('that is unknown is not found', async () => {
    const { status, text } = await ask(undefined);
    assert.equal(status, 404);
    assert.equal(text, '{"detail":"sandbox default/a not found"}\n');
  });

  test('that is not ready says why and when to come again', async () => {
    const reason = 'DependenciesNotReady';
    const { status, text, retryAfter } = await ask({
      ...ready,
      isReady: false,
      reason,
      message: 'Pod does not exist',
    });
    assert.equal(status, 503);
    assert.equal(
      text,
      '{"detail":"sandbox default/a is not ready: DependenciesNotReady: Pod does not exist"}\n',
    );
    assert.equal(retryAfter, '1');
  });

  test('is never one on an address its status should not have', async () => {
    const { status } = await ask({ ...ready, podIps: ['169.254.169.254'] });
    assert.equal(status, 503);
  });

  test('may be asked for by uid, if it is that one', async () => {
    assert.equal((await ask(ready, { 'X-Sandbox-UID': uid })).status, 200);
    assert.equal((await ask(ready, { 'X-Sandbox-UID': 'another' })).status, 404);
  });

  test('is never reached by the address in a header, only checked against it', async () => {
    assert.equal((await ask(ready, { 'X-Sandbox-Pod-IP': '127.0.0.1' })).status, 200);
    assert.equal((await ask(ready, { 'X-Sandbox-Pod-IP': '127.0.0.2' })).status, 403);
    assert.equal((await ask(ready, { 'X-Sandbox-Pod-IP': '10.0.0.1' })).status, 403);
    assert.equal((await ask(ready, { 'X-Sandbox-Pod-IP': '169.254.169.254' })).status, 400);
  });
});

describe('the token exchange', () => {
  const post = (url: string, body: unknown, token = 'good') =>
    fetch(`${url}/hutch/v1/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('gives a token that opens the sandbox, and only for as long as was asked', async () => {
    await using sandbox = await answering();
    await using router = await startRouter();
    const before = Date.now();
    const response = await post(router.url, { namespace: 'default', name: 'a', expiresInSeconds: 60 });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: string };
    const lifeMs = Date.parse(expiresAt) - before;
    assert.ok(lifeMs > 58_000 && lifeMs < 62_000, `${lifeMs} ms`);
    const inside = await fetch(router.url, { headers: to(sandbox.port, { 'X-Hutch-Token': token }) });
    assert.equal(await inside.text(), 'inside');
  });

  test('never gives one for longer than a day', async () => {
    await using router = await startRouter();
    const response = await post(router.url, { namespace: 'default', name: 'a', expiresInSeconds: 1e9 });
    const { expiresAt } = (await response.json()) as { expiresAt: string };
    assert.ok(Date.parse(expiresAt) - Date.now() <= 24 * 3600 * 1000);
  });

  const name = 'a';
  const namespace = 'default';
  const cases: { name: string; body: unknown; token?: string; status: number }[] = [
    { name: 'refuses a user who may not connect', body: { namespace, name }, token: 'poor', status: 403 },
    { name: 'refuses a stranger', body: { namespace, name }, token: 'x', status: 401 },
    { name: 'refuses another name', body: { namespace, name: 'b' }, status: 403 },
    { name: 'refuses what is not JSON', body: '{', status: 400 },
    { name: 'refuses null', body: 'null', status: 400 },
    { name: 'refuses no name', body: { namespace }, status: 400 },
    { name: 'refuses a bad namespace', body: { namespace: '../x', name }, status: 400 },
    { name: 'refuses no time at all', body: { namespace, name, expiresInSeconds: 0 }, status: 400 },
    { name: 'refuses a huge body', body: 'x'.repeat(1 << 20), status: 413 },
  ];
  for (const { name, body, token, status } of cases) {
    test(name, async () => {
      await using router = await startRouter();
      assert.equal((await post(router.url, body, token)).status, status);
    });
  }

  test('does not exist for a sandbox that does not', async () => {
    await using router = await startRouter({ routes: {} });
    assert.equal((await post(router.url, { namespace: 'default', name: 'a' })).status, 404);
  });

  test('is a POST', async () => {
    await using router = await startRouter();
    assert.equal((await fetch(`${router.url}/hutch/v1/tokens`)).status, 405);
  });
});

describe('API paths', () => {
  const passed = async (path: string, init: RequestInit = {}) => {
    await using router = await startRouter({
      api: async (request, response) => {
        response.end(`api ${request.method} ${request.url} ${request.headers.authorization}`);
      },
    });
    const response = await fetch(`${router.url}${path}`, init);
    return { status: response.status, text: await response.text() };
  };
  const yes = [
    '/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes?watch=true',
    '/apis/extensions.agents.x-k8s.io/v1beta1/sandboxclaims',
    '/apis/agents.x-k8s.io/v1beta1',
    '/api/v1/namespaces/default/pods/a/log?follow=true',
  ];
  for (const path of yes) {
    test(`${path} goes to the API with the caller's own credential`, async () => {
      const { text } = await passed(path, { headers: { Authorization: 'Bearer mine' } });
      assert.equal(text, `api GET ${path} Bearer mine`);
    });
  }
  const no = [
    '/api/v1/namespaces/default/pods/a',
    '/api/v1/namespaces/default/secrets/log',
    '/api/v1/namespaces/default/pods/a/exec',
    '/apis/apps/v1/deployments',
    '/apis/agents.x-k8s.io.evil/v1',
    '/apis/agents.x-k8s.io/%2e%2e/%2e%2e/api/v1/secrets',
  ];
  for (const path of no) {
    test(`${path} does not`, async () => {
      const { status, text } = await passed(path);
      assert.equal(status, 400);
      assert.match(text, /X-Sandbox-ID header is required/);
    });
  }

  test('of a sandbox that serves the same ones are its own', async () => {
    await using sandbox = await answering();
    await using router = await startRouter({ api: async (_request, response) => void response.end('api') });
    const response = await fetch(`${router.url}/apis/agents.x-k8s.io/v1`, { headers: to(sandbox.port) });
    assert.equal(await response.text(), 'inside');
  });

  test('are ordinary ones where no API is given', async () => {
    await using router = await startRouter();
    assert.equal((await fetch(`${router.url}/apis/agents.x-k8s.io/v1`)).status, 400);
  });

  test('writing to a pod log is not passed', async () => {
    assert.equal((await passed('/api/v1/namespaces/default/pods/a/log', { method: 'POST' })).status, 400);
  });
});

describe('reviews', () => {
  const sandbox = { namespace: 'default', name: 'a' };
  const signal = new AbortController().signal;

  test('ask who it is, then whether they may connect, once for many requests', async () => {
    const asked: unknown[] = [];
    const client = {
      async create(resource: { plural: string }, draft: { spec: unknown }) {
        asked.push(draft.spec);
        const status =
          resource.plural === 'tokenreviews'
            ? { authenticated: true, user: { username: 'jo', groups: ['g'] } }
            : { allowed: true };
        return { ...draft, status };
      },
    };
    const reviews = createReviews({ client: client as never, clock: systemClock });
    const answers = await Promise.all([1, 2, 3].map(() => reviews.review('t', sandbox, signal)));
    assert.deepEqual(answers, ['allowed', 'allowed', 'allowed']);
    assert.deepEqual(asked, [
      { token: 't' },
      {
        user: 'jo',
        groups: ['g'],
        resourceAttributes: {
          verb: 'create',
          group: 'agents.x-k8s.io',
          resource: 'sandboxes',
          subresource: 'connect',
          namespace: 'default',
          name: 'a',
        },
      },
    ]);
  });

  test('that fail are told as a failure and asked again', async () => {
    let calls = 0;
    const client = {
      async create(): Promise<never> {
        calls++;
        throw statusFault('unavailable', 'try later');
      },
    };
    const reviews = createReviews({ client, clock: systemClock });
    for (const _ of [1, 2]) {
      await assert.rejects(reviews.review('t', sandbox, signal), (err: Error & { status: number }) => {
        assert.equal(err.status, 500);
        assert.equal(err.message, 'tokenreview: try later');
        assert.ok(err.cause instanceof StatusFault);
        return true;
      });
    }
    assert.equal(calls, 2);
  });

  test('are forgotten after seconds, so that a withdrawn right ends', async () => {
    let [time, authenticated] = [0, true];
    const clock = { now: () => new Date(time), sleep: async () => {} };
    const client = {
      create: async (resource: { plural: string }) =>
        resource.plural === 'tokenreviews'
          ? { status: { authenticated, user: { username: 'jo' } } }
          : { status: { allowed: true } },
    };
    const reviews = createReviews({ client: client as never, clock });
    assert.equal(await reviews.review('t', sandbox, signal), 'allowed');
    authenticated = false;
    assert.equal(await reviews.review('t', sandbox, signal), 'allowed');
    time = 5_000;
    assert.equal(await reviews.review('t', sandbox, signal), 'unauthenticated');
  });
});
