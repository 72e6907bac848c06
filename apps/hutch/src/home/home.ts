/**
 * A home, put together: the same parts as on a cluster, wired with embedded drivers. Read downwards.
 *
 * storage → API server → what a home begins with → controllers, node, router. Every part speaks to the API
 * server as a user of its own, in process; people and programs come through the router or the HTTPS door.
 */
import { hostImage, runtimeImage, sandboxes } from '@hutch/api';
import { crds } from '@hutch/api/crds';
import {
  type ApiServer,
  bearerTokens,
  createApiServer,
  httpHandler,
  rulesAuthorizer,
} from '@hutch/apiserver';
import { ignoring, type Log, runTogether, systemClock } from '@hutch/base';
import { createInformer } from '@hutch/controller';
import { runHomeControllers } from '@hutch/home-controllers';
import { createKubeClient, inProcess, type KubeClient } from '@hutch/kube-client';
import {
  customResourceDefinitions,
  type Draft,
  events,
  type KubeObject,
  keyOf,
  namespaces,
  type Resource,
  type ServiceAccount,
  secrets,
  serviceAccounts,
  type User,
} from '@hutch/kube-meta';
import {
  createNodeAgent,
  type NodeAgent,
  type PodTiming,
  requireTools,
  type Stage,
  type SweepReport,
  sweepHome,
} from '@hutch/node';
import { runSandboxController } from '@hutch/reconcilers';
import {
  createKeyring,
  createReviews,
  createRouter,
  keysSecret,
  openUpstreams,
  routeTable,
  serveRouter,
} from '@hutch/routing';
import type { Storage } from '@hutch/storage';
import { accounts, rules } from './accounts.ts';
import type { DataDir } from './data-dir.ts';
import { listen, type Port } from './listen.ts';
import { runtimeDirectory } from './runtime-directory.ts';

export interface HomeOptions {
  readonly dataDir: DataDir;
  readonly storage: Storage;
  /** Opens everything. */
  readonly adminToken: string;
  /** Any free one when absent. */
  readonly routerPort?: Port | undefined;
  /** One more way to the API server besides the router. */
  readonly openDoor?: ((server: ApiServer) => Promise<AsyncDisposable>) | undefined;
  readonly log: Log;
  readonly onPodStage?: ((timing: PodTiming, stage: Stage) => void) | undefined;
}

export interface Home {
  readonly router: string;
  readonly server: ApiServer;
  /** Settles only when a part has failed: it rejects with why. */
  readonly failed: Promise<never>;
  /** Stops the parts and removes every container, link, rule and mount. What is stored stays. */
  drain(): Promise<SweepReport>;
}

const nodeName = 'hutch';

export async function startHome(options: HomeOptions): Promise<Home> {
  const { dataDir, storage, adminToken, log } = options;
  requireTools();
  const clock = systemClock;
  const stop = new AbortController();

  const server: ApiServer = createApiServer({
    storage,
    clock,
    authenticator: bearerTokens([{ token: adminToken, user: accounts.admin }]),
    authorizer: rulesAuthorizer({ users: rules }),
    log: log.with({ part: 'apiserver' }),
    nodeStreams: { logs: (pod, logOptions, signal) => node.streams.logs(keyOf(pod), logOptions, signal) },
  });
  const clientOf = (user: User) => createKubeClient(inProcess(server.handle, user));

  const node: NodeAgent = createNodeAgent({
    client: clientOf(accounts.node),
    nodeName,
    dataDir: dataDir.root,
    imageDir: dataDir.imagesDir,
    images: {
      [hostImage]: { type: 'host' },
      [runtimeImage]: { type: 'directory', path: runtimeDirectory() },
    },
    clock,
    log: log.with({ part: 'node' }),
    ...(options.onPodStage ? { onStage: options.onPodStage } : {}),
  });

  await found(clientOf(accounts.founder));

  const parts = { clock, log };
  const sandboxCopy = createInformer({ client: clientOf(accounts.router), resource: sandboxes, ...parts });
  const upstreams = openUpstreams(parts);
  const routerClient = clientOf(accounts.router);
  const router = createRouter({
    routes: routeTable(sandboxCopy),
    tokens: createKeyring({ client: routerClient, ...parts }),
    reviews: createReviews({ client: routerClient, clock }),
    upstreams,
    api: httpHandler(server),
    clock,
    log: log.with({ part: 'router' }),
  });

  // Doors first: a port that is taken must be known before anything is made on the machine.
  await using doors = new AsyncDisposableStack();
  doors.defer(() => upstreams.close());
  const anyPort: Port = { number: 0, isFixed: false };
  const serve = (port: number) => serveRouter(router, { host: '127.0.0.1', port });
  const listener = await listen(options.routerPort ?? anyPort, serve);
  doors.defer(() => listener.close(0));
  if (options.openDoor) doors.use(await options.openDoor(server));

  const running = runTogether(stop.signal, [
    (signal) => server.run(signal),
    (signal) => sandboxCopy.run(signal),
    (signal) =>
      runSandboxController(
        {
          client: clientOf(accounts.sandboxController),
          clock,
          log: log.with({ part: 'sandbox-controller' }),
        },
        signal,
      ),
    (signal) =>
      runHomeControllers(
        {
          client: clientOf(accounts.homeControllers),
          nodeName,
          resources: collected,
          clock,
          log: log.with({ part: 'home-controllers' }),
        },
        signal,
      ),
    (signal) => node.run(signal),
  ]);
  const failed = running.then(() => new Promise<never>(() => {}));
  failed.catch(() => {}); // whoever waits for the home hears of it

  try {
    await Promise.race([sandboxCopy.synced, running]);
  } catch (err) {
    stop.abort();
    await running.catch(() => {});
    throw err;
  }

  const opened = doors.move();
  return {
    router: listener.url,
    server,
    failed,
    async drain() {
      await opened.disposeAsync();
      stop.abort();
      await running.catch(() => {});
      return await sweepHome({ dataDir: dataDir.root, log });
    },
  };
}

/** Further kinds that go with their owner and with their namespace. */
const collected: readonly Resource[] = [secrets, events];

const foundingNamespaces = ['default', 'kube-system', keysSecret.namespace];

/** What every home has from the beginning. Made again at every start; what is there stays. */
async function found(client: KubeClient): Promise<void> {
  await Promise.all([
    ...foundingNamespaces.map((name) => foundNamespace(client, name)),
    ...crds.map((crd) => ensureCrd(client, crd)),
  ]);
}

/** With the account its pods need: a controller would make it too, but the first pod must not wait for that. */
async function foundNamespace(client: KubeClient, name: string): Promise<void> {
  const namespace: Draft<KubeObject> = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await ignoring('already-exists', client.create(namespaces, namespace));
  const account: Draft<ServiceAccount> = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: name, name: 'default' },
    automountServiceAccountToken: false, // pods have no way to the API server
  };
  await ignoring('already-exists', client.create(serviceAccounts, account));
}

/** A newer Hutch brings newer definitions. */
async function ensureCrd(client: KubeClient, crd: (typeof crds)[number]): Promise<void> {
  const created = await ignoring('already-exists', client.create(customResourceDefinitions, crd));
  if (!created)
    await client.patch(customResourceDefinitions, { name: crd.metadata.name }, { spec: crd.spec });
}
