/** For this package's tests: one server, reached through either door, with a clock the test moves. */
import { type Clock, silentLog } from '@hutch/base';
import type { ApiResponse, Method, Status, User, WatchEvent } from '@hutch/kube-meta';
import { openMemoryStorage, type Storage, type StoreOptions } from '@hutch/storage';
import { bearerTokens } from './access/authentication.ts';
import { rulesAuthorizer } from './access/authorization.ts';
import type { Converter } from './conversion.ts';
import { serveHttp } from './doors/http.ts';
import type { CallWebhook } from './kinds/custom/conversion.ts';
import type { ApiObject } from './kinds/kind.ts';
import type { NodeStreams } from './node-streams.ts';
import { type ApiServer, createApiServer } from './server.ts';

export const admin: User = { name: 'admin', groups: ['system:masters'] };
export const reader: User = { name: 'reader', groups: [] };

/** Stands still until it is moved; sleepers wake in the order of their time. */
export class FakeClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  readonly #sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  now(): Date {
    return new Date(this.#now);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason as Error);
      };
      const wake = () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = [...this.#sleepers].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    for (const sleeper of due) {
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

interface CallOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly user?: User;
}

interface Answer<T = ApiObject> {
  readonly status: number;
  readonly object: T;
  readonly warnings: readonly string[];
}

/** What a client of either door can do. */
export interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly storage: Storage;
  readonly server: ApiServer;
  call<T = ApiObject>(method: Method, path: string, options?: CallOptions): Promise<Answer<T>>;
  /** The events of a watch, which has begun when this resolves. */
  watch(path: string, signal?: AbortSignal, accept?: string): Promise<AsyncIterator<WatchEvent>>;
}

interface RigOptions {
  readonly store?: StoreOptions;
  readonly convert?: Converter;
  readonly callWebhook?: CallWebhook;
  readonly nodeStreams?: NodeStreams;
}

type Caller = (
  method: Method,
  path: string,
  options: CallOptions & { signal: AbortSignal },
) => Promise<ApiResponse>;

export type OpenRig = (options?: RigOptions) => Promise<Rig>;

function startServer({ store = {}, ...options }: RigOptions) {
  const clock = new FakeClock();
  const storage = openMemoryStorage(store);
  const server = createApiServer({
    storage,
    clock,
    authenticator: bearerTokens([admin, reader].map((user) => ({ token: `token-of-${user.name}`, user }))),
    authorizer: rulesAuthorizer({
      users: { reader: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }] },
    }),
    log: silentLog,
    ...options,
  });
  return { clock, storage, server };
}

function rigOver(parts: ReturnType<typeof startServer>, caller: Caller, close: () => Promise<void>): Rig {
  const ended = new AbortController();
  const call = (method: Method, path: string, options: CallOptions = {}) =>
    caller(method, path, { ...options, signal: ended.signal });
  return {
    ...parts,
    async call<T>(method: Method, path: string, options?: CallOptions) {
      const response = await call(method, path, options);
      if (response.type === 'object') {
        const { status, object, warnings = [] } = response;
        return { status, object: object as T, warnings };
      }
      if (response.type === 'stream') {
        return { status: 200, object: (await readStream(response)) as T, warnings: [] };
      }
      throw new Error(`${method} ${path} was answered by a watch`);
    },
    async watch(path, signal = ended.signal, accept = 'application/json') {
      const response = await caller('GET', path, { signal, accept });
      if (response.type === 'watch') return response.events[Symbol.asyncIterator]();
      throw new Error(`watch ${path} was answered by ${JSON.stringify(response)}`);
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await close();
      await parts.storage[Symbol.asyncDispose]();
    },
  };
}

async function readStream({ open }: Extract<ApiResponse, { type: 'stream' }>): Promise<string> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const text = new Response(readable).text();
  const empty = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  await open(new Map([['out', { readable: empty, writable }]]), new AbortController().signal);
  return text;
}

function splitUrl(path: string): { path: string; query: URLSearchParams } {
  const [bare = '', query = ''] = path.split('?');
  return { path: bare, query: new URLSearchParams(query) };
}

const openInProcess: OpenRig = async (options = {}) => {
  const parts = startServer(options);
  const caller: Caller = (method, path, { user = admin, ...rest }) =>
    parts.server.handle({ method, ...splitUrl(path), user, ...rest });
  return rigOver(parts, caller, async () => {});
};

const openOverHttp: OpenRig = async (options = {}) => {
  const parts = startServer(options);
  const door = await serveHttp(parts.server);
  const caller: Caller = async (method, path, { user = admin, body, contentType, accept, signal }) => {
    const response = await fetch(door.url + path, {
      method,
      signal,
      headers: {
        authorization: `Bearer token-of-${user.name}`,
        ...(accept === undefined ? {} : { accept }),
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
      },
      ...(body === undefined
        ? {}
        : { body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body) }),
    });
    const { status } = response;
    if (status === 200 && /[?&]watch=/.test(path)) return { type: 'watch', events: lines(response) };
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const object = isJson ? (JSON.parse(text) as Status) : text;
    return { type: 'object', status, object, warnings: warningsOf(response) };
  };
  return rigOver(parts, caller, async () => await door[Symbol.asyncDispose]());
};

/** `299 - "…"`, several in one header. */
function warningsOf({ headers }: Response): string[] {
  const quoted = (headers.get('warning') ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g);
  return [...quoted].map(([, text = '""']) => JSON.parse(text) as string);
}

async function* lines(response: Response): AsyncGenerator<WatchEvent, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) yield JSON.parse(line) as WatchEvent;
  }
}

export const doors: readonly { readonly name: string; readonly open: OpenRig }[] = [
  { name: 'in process', open: openInProcess },
  { name: 'over HTTP', open: openOverHttp },
];

export async function take(events: AsyncIterator<WatchEvent>, count: number): Promise<WatchEvent[]> {
  const taken: WatchEvent[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  mode: { type: 'string', enum: ['On', 'Off'], default: 'On' },
                },
              },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

export const widgets = '/apis/example.com/v1/namespaces/default/widgets';
export const pods = '/api/v1/namespaces/default/pods';

export function aWidget(name: string, more: object = {}) {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: { size: 1 }, ...more };
}

export function aPod(name: string, spec: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'example.com/main:1' }], ...spec },
  };
}

/** A namespace whose pods may run, and a custom kind to work with. */
export async function furnish(rig: Rig): Promise<void> {
  await rig.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'default' } } });
  await rig.call('POST', '/api/v1/namespaces/default/serviceaccounts', {
    body: { metadata: { name: 'default' } },
  });
  await rig.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: widgetDefinition,
  });
}
