/** Our server with its controllers, on a store in memory, reached through both doors. */
import { bearerTokens, createApiServer, rulesAuthorizer, serveHttp } from '@hutch/apiserver';
import { silentLog, systemClock } from '@hutch/base';
import { runHomeControllers } from '@hutch/home-controllers';
import { createKubeClient, inProcess } from '@hutch/kube-client';
import {
  type ApiRequest,
  type ApiResponse,
  events,
  type Handle,
  leases,
  type Method,
  namespaces,
  networkPolicies,
  roleBindings,
  roles,
  secrets,
  type User,
} from '@hutch/kube-meta';
import { openMemoryStorage } from '@hutch/storage';
import type { RawRequest, RawResponse, RawWatch, Target } from './target.ts';
import { openWire } from './wire.ts';

const administrator: User = { name: 'tester', groups: ['system:masters', 'system:authenticated'] };
const token = 'only-for-tests';

export interface OurServer extends AsyncDisposable {
  readonly inProcess: Target;
  readonly overHttp: Target;
}

export async function openOurServer(): Promise<OurServer> {
  await using opened = new AsyncDisposableStack();
  // A short history, so that a watch can come too late as it can on the real server.
  const storage = opened.use(openMemoryStorage({ historyLimit: 400 }));
  // Revisions of several digits, as on a server that has lived for a while: no answer looks like a small number.
  for (let count = 0; count < 100; count++) {
    await storage.write('/before-the-suite', () => ({ type: 'put', value: count }));
  }
  const server = createApiServer({
    storage,
    clock: systemClock,
    authenticator: bearerTokens([{ token, user: administrator }]),
    authorizer: rulesAuthorizer({}),
    log: silentLog,
  });
  const client = createKubeClient(inProcess(server.handle, administrator));
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  const stop = new AbortController();
  const controllers = runHomeControllers(
    {
      client,
      nodeName: 'this-machine',
      resources: [secrets, events, leases, networkPolicies, roles, roleBindings],
      rootCa: 'the authority of this suite',
      clock: systemClock,
      log: silentLog,
    },
    stop.signal,
  );
  opened.defer(async () => {
    stop.abort();
    await controllers;
  });

  const door = opened.use(await serveHttp(server));
  const wire = opened.use(openWire({ url: door.url, token }));
  const close = opened.move();
  return {
    inProcess: targetOver(server.handle),
    overHttp: { name: 'ours over HTTP', can: () => true, send: wire.send, watch: wire.watch },
    [Symbol.asyncDispose]: () => close.disposeAsync(),
  };
}

function targetOver(handle: Handle): Target {
  return {
    name: 'ours in process',
    can: (ability) => ability !== 'bytes',
    async send(request, signal) {
      return await rawResponse(await handle(apiRequest(request, signal)));
    },
    async watch(request, signal): Promise<RawWatch> {
      const response = await handle(apiRequest(request, signal));
      if (response.type !== 'watch') return { type: 'answer', response: await rawResponse(response) };
      return { type: 'events', events: copies(response.events) };
    },
  };
}

function apiRequest({ method, path, headers, body }: RawRequest, signal: AbortSignal): ApiRequest {
  const [bare = '', query = ''] = path.split('?');
  return {
    method: method as Method,
    path: bare,
    query: new URLSearchParams(query),
    ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }),
    contentType: headers['content-type'],
    accept: headers.accept,
    user: administrator,
    signal,
  };
}

async function rawResponse(response: ApiResponse): Promise<RawResponse> {
  if (response.type === 'object') {
    const { status, object, warnings = [], headers } = response;
    const texts = warnings.map((warning) => `299 - ${JSON.stringify(warning)}`);
    const warning = texts.length === 1 ? (texts[0] as string) : texts;
    return { status, headers: { ...headers, ...(texts.length > 0 ? { warning } : {}) }, body: object };
  }
  if (response.type === 'stream') return { status: 200, headers: {}, body: await textOf(response.open) };
  const events: unknown[] = [];
  for await (const event of response.events) events.push(event);
  return { status: 200, headers: {}, body: events };
}

async function textOf(open: Extract<ApiResponse, { type: 'stream' }>['open']): Promise<string> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const text = new Response(readable).text();
  const nothing = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  await open(new Map([['out', { readable: nothing, writable }]]), new AbortController().signal);
  return await text;
}

async function* copies(events: AsyncIterable<unknown>): AsyncGenerator<unknown, void, void> {
  for await (const event of events) yield event;
}
