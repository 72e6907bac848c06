/** What every transport owes the verbs. The server is a script, so each case says exactly what it answers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aborted, Channel, isFault } from '@hutch/base';
import {
  type ApiRequest,
  type ApiResponse,
  type Handle,
  isStatus,
  notFound,
  type Pod,
  pods,
  type Status,
  StatusFault,
  statusFault,
  type WatchEvent,
} from '@hutch/kube-meta';
import type { KubeClient, Transport } from './client.ts';
import { createKubeClient } from './verbs.ts';

export interface OpenedTransport extends AsyncDisposable {
  readonly transport: Transport;
}

export function describeTransportContract(name: string, open: (handle: Handle) => Promise<OpenedTransport>) {
  async function withServer(
    handle: Handle,
    use: (client: KubeClient, asked: ApiRequest[]) => Promise<void>,
  ): Promise<void> {
    const asked: ApiRequest[] = [];
    await using opened = await open((request) => {
      asked.push(request);
      return handle(request);
    });
    await use(createKubeClient(opened.transport), asked);
  }

  describe(`${name} keeps the transport contract`, () => {
    for (const { name: what, call, want } of requests) {
      test(`${what} is asked as Kubernetes expects`, () =>
        withServer(
          async () => answerWith(aPod('a')),
          async (client, asked) => {
            await call(client);
            const [request] = asked;
            assert.ok(request);
            const { method, path, query, body, contentType } = request;
            const seen = { method, url: query.size === 0 ? path : `${path}?${query}`, body, contentType };
            assert.deepEqual(seen, { body: undefined, contentType: undefined, ...want });
            assert.notEqual(request.user.name, '');
          },
        ));
    }

    test('the object of an answer is the result of the call', () =>
      withServer(
        async () => answerWith(aPod('a')),
        async (client) => assert.deepEqual(await client.get(pods, key), aPod('a')),
      ));

    test('items of a list are whole objects although the server leaves their type out', () =>
      withServer(
        async () => {
          const { apiVersion: _, kind: __, ...bare } = aPod('a');
          const list = {
            apiVersion: 'v1',
            kind: 'PodList',
            metadata: { resourceVersion: '7' },
            items: [bare],
          };
          return { type: 'object', status: 200, object: list as never };
        },
        async (client) => {
          const list = await client.list<Pod>(pods);
          assert.equal(list.metadata.resourceVersion, '7');
          assert.deepEqual(list.items, [aPod('a')]);
        },
      ));

    test('a failure is thrown with the whole status', () =>
      withServer(
        async () => answerStatus(notFound(pods, 'a').status),
        (client) =>
          assert.rejects(client.get(pods, key), (err) => {
            assert.ok(err instanceof StatusFault && isStatus(err.status));
            assert.equal(err.code, 'not-found');
            assert.equal(err.message, 'pods "a" not found');
            assert.deepEqual(err.status.details, { name: 'a', kind: 'pods' });
            return true;
          }),
      ));

    test('a failure without a status is told by its code', () =>
      withServer(
        async () => ({ type: 'object', status: 404, object: '404 page not found' }),
        (client) => assert.rejects(client.get(pods, key), { code: 'not-found' }),
      ));

    test('a gateway that fails in between is unavailable', () =>
      withServer(
        async () => ({ type: 'object', status: 502, object: 'bad gateway' }),
        (client) => assert.rejects(client.get(pods, key), { code: 'unavailable' }),
      ));

    test('a call ends with the reason of its signal', () =>
      withServer(
        async ({ signal }) => {
          await aborted(signal);
          return answerWith(aPod('a'));
        },
        async (client, asked) => {
          const stop = new AbortController();
          const call = client.get(pods, key, { signal: stop.signal });
          const reason = new Error('enough');
          stop.abort(reason);
          await assert.rejects(call, (err) => err === reason);
          await assert.rejects(client.get(pods, key, { signal: stop.signal }), (err) => err === reason);
          assert.ok(asked.length <= 1, 'a call that is over before it begins is not sent');
        },
      ));

    test('watch events arrive one by one, as they happen', () => {
      const events = new Channel<WatchEvent>(10);
      return withServer(
        async () => ({ type: 'watch', events }),
        async (client, asked) => {
          const watch = client.watch<Pod>(pods, { namespace: 'ns', resourceVersion: '5', timeoutSeconds: 9 });
          const reader = watch[Symbol.asyncIterator]();
          for (const name of ['a', 'b — ü 💡']) {
            events.push({ type: 'ADDED', object: aPod(name) });
            const { value } = await reader.next();
            assert.deepEqual(value, { type: 'ADDED', object: aPod(name) });
          }
          events.push({ type: 'BOOKMARK', object: bookmark('8') });
          assert.deepEqual((await reader.next()).value, { type: 'BOOKMARK', object: bookmark('8') });
          events.end();
          assert.equal((await reader.next()).done, true);
          assert.equal(asked[0]?.path, '/api/v1/namespaces/ns/pods');
          assert.deepEqual(Object.fromEntries(asked[0]?.query ?? []), {
            resourceVersion: '5',
            watch: 'true',
            allowWatchBookmarks: 'true',
            timeoutSeconds: '9',
          });
        },
      );
    });

    test('a refused watch is thrown', () =>
      withServer(
        async () => answerStatus(statusFault('forbidden', 'pods is forbidden').status),
        (client) => assert.rejects(drain(client.watch(pods, {})), { code: 'forbidden' }),
      ));

    test('an error inside a watch is thrown after the events before it', () => {
      const events = new Channel<WatchEvent>(10);
      events.push({ type: 'ADDED', object: aPod('a') });
      events.push({ type: 'ERROR', object: statusFault('expired', 'too old').status });
      return withServer(
        async () => ({ type: 'watch', events }),
        async (client) => {
          const reader = client.watch(pods, {})[Symbol.asyncIterator]();
          assert.equal((await reader.next()).value?.type, 'ADDED');
          await assert.rejects(reader.next(), (err) => isFault(err, 'expired'));
        },
      );
    });

    test('a watch whose caller aborts simply ends, and the server hears of it', () => {
      const left = Promise.withResolvers<void>();
      return withServer(
        async ({ signal }) => {
          const events = new Channel<WatchEvent>(10);
          signal.addEventListener('abort', () => {
            events.end();
            left.resolve();
          });
          events.push({ type: 'ADDED', object: aPod('a') });
          return { type: 'watch', events };
        },
        async (client) => {
          const stop = new AbortController();
          for await (const _ of client.watch(pods, { signal: stop.signal })) stop.abort();
          await left.promise;
        },
      );
    });

    test('a watch that is read no further is given up on the server too', () => {
      const left = Promise.withResolvers<void>();
      return withServer(
        async ({ signal }) => {
          const events = new Channel<WatchEvent>(10, left.resolve);
          signal.addEventListener('abort', () => events.end());
          events.push({ type: 'ADDED', object: aPod('a') });
          return { type: 'watch', events };
        },
        async (client) => {
          for await (const _ of client.watch(pods, {})) break;
          await left.promise;
        },
      );
    });

    test('many calls at once are all answered, beside a watch that says nothing', () => {
      const quiet = new Channel<WatchEvent>(1);
      return withServer(
        async ({ path, query }) =>
          query.has('watch')
            ? { type: 'watch', events: quiet }
            : answerWith(aPod(path.slice(path.lastIndexOf('/') + 1))),
        async (client) => {
          const watching = drain(client.watch(pods, {}));
          const names = Array.from({ length: 100 }, (_, i) => `p${i}`);
          const got = await Promise.all(names.map((name) => client.get(pods, { namespace: 'ns', name })));
          assert.deepEqual(
            got.map((pod) => pod.metadata.name),
            names,
          );
          quiet.end();
          await watching;
        },
      );
    });
  });
}

const key = { namespace: 'ns', name: 'a' };
const base = '/api/v1/namespaces/ns/pods';
const json = 'application/json';
const binding = { apiVersion: 'v1', kind: 'Binding', metadata: key, target: { name: 'node' } };

const untidy = { ...binding, target: [{ a: undefined, b: 1 }], c: undefined };

interface Want {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

const requests: { name: string; call: (client: KubeClient) => Promise<unknown>; want: Want }[] = [
  {
    name: 'get',
    call: (client) => client.get(pods, key),
    want: { method: 'GET', url: `${base}/a` },
  },
  {
    name: 'list of all namespaces',
    call: (client) => client.list(pods),
    want: { method: 'GET', url: '/api/v1/pods' },
  },
  {
    name: 'list with a scope',
    call: (client) => client.list(pods, { namespace: 'ns', labelSelector: 'a=b', limit: 5, continue: 'x' }),
    want: { method: 'GET', url: `${base}?labelSelector=a%3Db&limit=5&continue=x` },
  },
  {
    name: 'create',
    call: (client) => client.create<Pod>(pods, aPod('a'), { fieldManager: 'me' }),
    want: { method: 'POST', url: `${base}?fieldManager=me`, body: aPod('a'), contentType: json },
  },
  {
    name: 'create of a subresource',
    call: (client) => client.create(pods, binding, { subresource: 'binding' }),
    want: { method: 'POST', url: `${base}/a/binding`, body: binding, contentType: json },
  },
  {
    name: 'a draft with undefined fields',
    call: (client) => client.create(pods, untidy),
    want: {
      method: 'POST',
      url: base,
      body: { ...binding, target: [{ b: 1 }] },
      contentType: json,
    },
  },
  {
    name: 'update of a status',
    call: (client) => client.update(pods, aPod('a'), { subresource: 'status' }),
    want: { method: 'PUT', url: `${base}/a/status`, body: aPod('a'), contentType: json },
  },
  {
    name: 'merge patch',
    call: (client) => client.patch(pods, key, { metadata: { labels: { a: null } } }),
    want: {
      method: 'PATCH',
      url: `${base}/a`,
      body: { metadata: { labels: { a: null } } },
      contentType: 'application/merge-patch+json',
    },
  },
  {
    name: 'JSON patch of a status',
    call: (client) => client.patch(pods, key, [], { type: 'json', subresource: 'status' }),
    want: {
      method: 'PATCH',
      url: `${base}/a/status`,
      body: [],
      contentType: 'application/json-patch+json',
    },
  },
  {
    name: 'delete with preconditions',
    call: (client) => client.delete(pods, key, { uid: 'u', gracePeriodSeconds: 0 }),
    want: {
      method: 'DELETE',
      url: `${base}/a`,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'u' }, gracePeriodSeconds: 0 },
      contentType: json,
    },
  },
];

function aPod(name: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '7',
      creationTimestamp: '2030-01-01T00:00:00Z',
    },
    spec: { containers: [] },
  };
}

function bookmark(resourceVersion: string) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion } };
}

function answerWith(object: Pod): ApiResponse {
  return { type: 'object', status: 200, object };
}

function answerStatus(status: Status): ApiResponse {
  return { type: 'object', status: status.code, object: status };
}

async function drain(watch: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of watch);
}
