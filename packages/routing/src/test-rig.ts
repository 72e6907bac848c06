/** A router on a free port with its parts in memory, for the tests beside it. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Clock, silentLog, systemClock } from '@hutch/base';
import type { KubeClient } from '@hutch/kube-client';
import {
  alreadyExists,
  conflict,
  type KubeObject,
  keyText,
  notFound,
  type ObjectKey,
  type Resource,
} from '@hutch/kube-meta';
import type { ApiDoor } from './api-pass-through.ts';
import type { Keyring } from './keyring.ts';
import type { Reviews } from './reviews.ts';
import type { Route } from './route-table.ts';
import { createRouter } from './router.ts';
import { type SigningKey, signToken, type TokenClaims } from './sandbox-token.ts';
import { serveRouter } from './server.ts';
import { openUpstreams } from './upstreams.ts';

const key: SigningKey = { id: '000000000001-00000000', secret: Buffer.alloc(32, 7) };
export const uid = 'uid-a';

export function tokenFor(claims: Partial<TokenClaims> = {}): string {
  const expiresAt = Math.floor(Date.now() / 1000) + 60;
  return signToken({ namespace: 'default', name: 'a', uid, claimUid: undefined, expiresAt, ...claims }, key);
}

export const ready: Route = {
  uid,
  claimUid: undefined,
  podIps: ['127.0.0.1'],
  isReady: true,
  reason: 'DependenciesReady',
  message: 'Pod is Ready',
};

const oneKey: Keyring = {
  signing: async () => key,
  find: async (id) => (id === key.id ? key.secret : undefined),
};

/** `good` may connect to a, `poor` may not, and nobody knows any other. */
const reviews: Reviews = {
  async review(token, { name }) {
    if (token === 'good' && name === 'a') return 'allowed';
    return token === 'good' || token === 'poor' ? 'forbidden' : 'unauthenticated';
  },
};

export interface RigOptions {
  readonly routes?: Readonly<Record<string, Route>>;
  readonly api?: ApiDoor;
  readonly clock?: Clock;
  readonly headersTimeoutMs?: number;
}

export async function startRouter({
  routes = { 'default/a': ready },
  api,
  clock,
  ...limits
}: RigOptions = {}) {
  const upstreams = openUpstreams({ clock: clock ?? systemClock, log: silentLog, ...limits });
  const router = createRouter({
    routes: { lookup: (namespace, name) => routes[`${namespace}/${name}`] },
    tokens: oneKey,
    reviews,
    upstreams,
    api,
    clock: systemClock,
    log: silentLog,
    allowLoopback: true,
  });
  const server = await serveRouter(router, { host: '127.0.0.1', port: 0 });
  return {
    url: server.url,
    port: Number(new URL(server.url).port),
    server,
    async [Symbol.asyncDispose]() {
      await server.close(0);
      await upstreams.close();
    },
  };
}

/** A real HTTP server in the place of a sandbox. */
export async function startSandbox(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy(); // upgraded ones too
      server.close();
      await once(server, 'close');
    },
  };
}

/** Headers that lead to sandbox a on this port. */
export function to(port: number, more: Record<string, string> = {}): Record<string, string> {
  return { 'X-Sandbox-ID': 'a', 'X-Sandbox-Port': String(port), 'X-Hutch-Token': tokenFor(), ...more };
}

/** A raw connection, for what no HTTP client would send. */
export async function rawConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the other side closes. */
export async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  return text;
}

/** Reads until the text is there. */
export function readUntil(socket: Socket, wanted: string): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!text.includes(wanted)) return;
      socket.off('data', onData);
      resolve(text);
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`closed before ${JSON.stringify(wanted)}: ${text}`)));
  });
}

/** Enough of an API for a keyring: objects with resource versions, in memory. */
export function memoryClient(): Pick<KubeClient, 'get' | 'create' | 'update'> & {
  readonly objects: Map<string, KubeObject>;
  calls: number;
} {
  const objects = new Map<string, KubeObject>();
  let revision = 0;
  const put = <T>(object: object): T => {
    const { metadata } = object as { metadata: ObjectKey };
    const stored = { ...object, metadata: { ...metadata, resourceVersion: String(++revision) } };
    objects.set(keyText(metadata), stored as unknown as KubeObject);
    return stored as T;
  };
  return {
    objects,
    calls: 0,
    async get<T>(resource: Resource, at: ObjectKey) {
      this.calls++;
      const found = objects.get(keyText(at));
      if (!found) throw notFound(resource, at.name);
      return found as T;
    },
    async create<T>(resource: Resource, draft: object) {
      const { metadata } = draft as { metadata: ObjectKey };
      if (objects.has(keyText(metadata))) throw alreadyExists(resource, metadata.name);
      return put<T>(draft);
    },
    async update<T extends KubeObject>(resource: Resource, object: T) {
      const { metadata } = object;
      const now = objects.get(keyText(metadata as ObjectKey));
      if (now?.metadata.resourceVersion !== metadata.resourceVersion) {
        throw conflict(resource, metadata.name, 'the object has been modified');
      }
      return put<T>(object);
    },
  };
}
