/** The two servers a foreign client is let loose on: it must not be able to tell them apart. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bearerTokens,
  createApiServer,
  ensureCertificates,
  rulesAuthorizer,
  serveHttps,
} from '@hutch/apiserver';
import { ignoring, isAbortOf, silentLog, systemClock } from '@hutch/base';
import { runHomeControllers } from '@hutch/home-controllers';
import { createKubeClient, inProcess, type KubeClient, overHttp } from '@hutch/kube-client';
import { namespaces, type User } from '@hutch/kube-meta';
import { openMemoryStorage } from '@hutch/storage';
import { kubeconfigText, openKubeRig, whyNoKubeRig } from '../../rigs/kube/index.ts';

/** What a client needs who brings his own everything. */
export interface ServerAddress {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

export interface Server extends AsyncDisposable {
  readonly address: ServerAddress;
  /** For the foreign client. It is an administrator's. */
  readonly kubeconfigFile: string;
  /** For the test itself. */
  readonly client: KubeClient;
  makeNamespace(name: string): Promise<void>;
}

export interface ServerKind {
  readonly name: string;
  /** Undefined when it can run here. */
  whyNot(signal: AbortSignal): Promise<string | undefined>;
  open(signal: AbortSignal): Promise<Server>;
}

export const servers: readonly ServerKind[] = [
  { name: 'our API server', whyNot: async () => undefined, open: openOurs },
  {
    name: 'kube-apiserver',
    whyNot: (signal) => whyNoKubeRig({ signal, say: console.error }),
    open: openReal,
  },
];

const administrator: User = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
const token = 'only-for-tests';

/** As a home has it, in memory: the HTTPS door with its own authority, and the controllers. */
async function openOurs(): Promise<Server> {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'hutch-clients-'));
  opened.defer(() => rm(directory, { recursive: true }));
  const { ca, ...pair } = await ensureCertificates(directory, { clock: systemClock });

  const storage = opened.use(openMemoryStorage());
  const server = createApiServer({
    storage,
    clock: systemClock,
    authenticator: bearerTokens([{ token, user: administrator }]),
    authorizer: rulesAuthorizer({}),
    log: silentLog,
  });
  const local = createKubeClient(inProcess(server.handle, administrator));
  for (const name of ['default', 'kube-system']) await ignoring('already-exists', makeNamespace(local, name));

  const stop = new AbortController();
  const parts = [
    server.run(stop.signal),
    runHomeControllers(
      { client: local, nodeName: 'none', resources: [], rootCa: ca, clock: systemClock, log: silentLog },
      stop.signal,
    ),
  ];
  opened.defer(async () => {
    stop.abort();
    for (const part of await Promise.allSettled(parts)) {
      if (part.status === 'rejected' && !isAbortOf(stop.signal, part.reason)) throw part.reason;
    }
  });

  const { url } = opened.use(await serveHttps(server, pair));
  const kubeconfigFile = join(directory, 'kubeconfig');
  await writeFile(kubeconfigFile, kubeconfigText({ url, ca, token }), { mode: 0o600 });
  return serverAt({ url, ca, token, kubeconfigFile }, opened);
}

async function openReal(signal: AbortSignal): Promise<Server> {
  await using opened = new AsyncDisposableStack();
  const rig = opened.use(await openKubeRig({ signal }));
  return serverAt({ ...rig, token: rig.adminToken }, opened);
}

interface Facts extends ServerAddress {
  readonly kubeconfigFile: string;
}

function serverAt({ kubeconfigFile, ...address }: Facts, opened: AsyncDisposableStack): Server {
  const client = createKubeClient(opened.use(overHttp(address)));
  const close = opened.move();
  return {
    address,
    kubeconfigFile,
    client,
    makeNamespace: (name) => makeNamespace(client, name),
    [Symbol.asyncDispose]: () => close.disposeAsync(),
  };
}

async function makeNamespace(client: KubeClient, name: string): Promise<void> {
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
