/**
 * A home in memory: the real API server on a store that forgets, reached through any of its doors. It has
 * a `default` namespace; controllers, reconcilers and nodes are added by the test that needs them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiServer,
  bearerTokens,
  createApiServer,
  ensureCertificates,
  type HttpDoor,
  rulesAuthorizer,
  serveHttp,
  serveHttps,
} from '@hutch/apiserver';
import { type Clock, silentLog, systemClock } from '@hutch/base';
import { createKubeClient, inProcess, type KubeClient, overHttp } from '@hutch/kube-client';
import {
  customResourceDefinitions,
  type Draft,
  type KubeObject,
  namespaces,
  serviceAccounts,
} from '@hutch/kube-meta';
import { openMemoryStorage } from '@hutch/storage';

export type HomeDoor = 'in-process' | 'http' | 'https';

export interface MemoryHomeOptions {
  /** How `client` reaches the server. */
  readonly door?: HomeDoor;
  readonly clock?: Clock;
  /** Definitions to serve from the start. */
  readonly crds?: readonly Draft<KubeObject>[];
}

export interface MemoryHome extends AsyncDisposable {
  readonly server: ApiServer;
  /** May do everything, through the door that was asked for. */
  readonly client: KubeClient;
  /** The same, always in process. */
  readonly local: KubeClient;
  /** Of the HTTP door; empty when there is none. */
  readonly url: string;
  /** Closes the HTTP door with every connection, and opens it again at the same address afterwards. */
  interrupt(meanwhile: () => Promise<void>): Promise<void>;
}

/** Without it no pod could be made. */
const desiredAccount: Draft<KubeObject> = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { namespace: 'default', name: 'default' },
};

const administrator = { name: 'tester', groups: ['system:masters'] };
const token = 'only-for-tests';

export async function openMemoryHome(options: MemoryHomeOptions = {}): Promise<MemoryHome> {
  const { door = 'in-process', clock = systemClock, crds = [] } = options;
  await using opened = new AsyncDisposableStack();
  const storage = opened.use(openMemoryStorage());
  const server = createApiServer({
    storage,
    clock,
    authenticator: bearerTokens([{ token, user: administrator }]),
    authorizer: rulesAuthorizer({}),
    log: silentLog,
  });
  const local = createKubeClient(inProcess(server.handle, administrator));
  await local.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  await local.create(serviceAccounts, desiredAccount);
  for (const crd of crds) await local.create(customResourceDefinitions, crd);

  const outer = door === 'in-process' ? undefined : await openOuterDoor(server, door, opened);
  const close = opened.move();
  return {
    server,
    local,
    client: outer?.client ?? local,
    url: outer?.url ?? '',
    async interrupt(meanwhile) {
      if (!outer) throw new Error('interrupt a home that has no HTTP door');
      await outer.interrupt(meanwhile);
    },
    [Symbol.asyncDispose]: () => close.disposeAsync(),
  };
}

async function openOuterDoor(server: ApiServer, door: 'http' | 'https', opened: AsyncDisposableStack) {
  const { ca, ...pair } = door === 'https' ? await makeCertificates(opened) : { ca: undefined };
  const serve = (port: number): Promise<HttpDoor> =>
    'key' in pair ? serveHttps(server, { ...pair, port }) : serveHttp(server, { port });

  let current = await serve(0);
  opened.defer(() => current[Symbol.asyncDispose]());
  const { url, port } = current;
  return {
    url,
    client: createKubeClient(opened.use(overHttp({ url, ca, token }))),
    async interrupt(meanwhile: () => Promise<void>) {
      await current[Symbol.asyncDispose]();
      await meanwhile();
      current = await serve(port);
    },
  };
}

async function makeCertificates(opened: AsyncDisposableStack) {
  const directory = await mkdtemp(join(tmpdir(), 'hutch-test-'));
  opened.defer(() => rm(directory, { recursive: true }));
  return await ensureCertificates(directory, { clock: systemClock });
}
