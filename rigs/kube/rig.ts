/**
 * A real Kubernetes API for a test: etcd, kube-apiserver and, as far as asked for, kube-controller-manager and
 * kube-scheduler, on loopback, in a directory that goes with it. There is no kubelet: pods stay as they are written.
 *
 * In order: a directory with its keeper; certificates and tokens; etcd (on a socket file, so no port of its can
 * clash); kube-apiserver until it says it is ready; the controllers until the first thing they make is there.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, watch } from 'node:fs';
import { mkdtemp, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault, pause, raceAbort } from '@hutch/base';
import { ensureKubeBinaries } from './binaries.ts';
import { makeCertificates, type RigCertificates } from './certificates.ts';
import { kubeconfigText, type RigUser, tokenFile } from './credentials.ts';
import { freePort } from './free-port.ts';
import { type Component, keepDirectory, startComponent } from './processes.ts';
import { type ApiAddress, firstEvent, isReady } from './readiness.ts';

export interface KubeRigOptions {
  /** Of opening it. An open rig ends with `stop`. */
  readonly signal: AbortSignal;
  /** What kube-controller-manager runs, by Kubernetes' names. An empty list: it is not started at all. */
  readonly controllers?: readonly string[];
  /** Without it pods wait for a binding. */
  readonly scheduler?: boolean;
  /** Every write synced to a real disk, as a fair measurement needs. Otherwise in memory where there is room. */
  readonly durable?: boolean;
  /** Who has a token, besides the administrator. */
  readonly users?: readonly RigUser[];
  /** Added to kube-apiserver's own; the last of a name counts. */
  readonly apiserverFlags?: readonly string[];
  /** Told about a build, which takes minutes. */
  readonly say?: (line: string) => void;
}

export interface KubeRig extends AsyncDisposable {
  readonly url: string;
  /** What clients have to trust, as PEM. */
  readonly ca: string;
  /** Of a user who may do everything. */
  readonly adminToken: string;
  readonly kubeconfigFile: string;
  /** Logs, certificates, data. Gone after `stop`. */
  readonly directory: string;
  /** By the name of the program. */
  readonly pids: Readonly<Record<string, number>>;
  /** Ends every process and removes the directory. Throws when one had ended by itself, with its last words. */
  stop(): Promise<void>;
}

/**
 * As far as the embedded home has them too. Not those that look after nodes and remove the pods of lost ones,
 * since no kubelet speaks for a node here.
 */
export const usualControllers: readonly string[] = [
  'clusterrole-aggregation-controller',
  'disruption-controller',
  'endpointslice-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'root-ca-certificate-publisher-controller',
  'service-cidr-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
];

const startTimeoutMs = 120_000;
const serviceNetwork = '10.96.0.0/16';
const hosts = [
  'DNS:localhost',
  'DNS:kubernetes',
  'DNS:kubernetes.default',
  'DNS:kubernetes.default.svc',
  'IP:127.0.0.1',
  'IP:10.96.0.1',
];

export async function openKubeRig(options: KubeRigOptions): Promise<KubeRig> {
  const { controllers = usualControllers, durable = false, users = [], say = () => {} } = options;
  const binaries = await ensureKubeBinaries({ signal: options.signal, say });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(startTimeoutMs)]);

  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(await dataHome(durable), 'hutch-kube-'));
  opened.use(await keepDirectory(directory));
  const certificates = await makeCertificates(directory, hosts, signal);
  const admin: RigUser = { token: secret(), name: 'admin', groups: ['system:masters'] };
  await writeFile(join(directory, 'tokens.csv'), tokenFile([admin, ...users]), { mode: 0o600 });

  const components: Component[] = [];
  const start = async (name: string, flags: readonly string[]): Promise<Component> => {
    const component = await startComponent({ name, program: join(binaries, name), flags, directory });
    components.push(opened.use(component));
    return component;
  };

  const socket = join(directory, 'etcd.sock');
  const etcd = await start('etcd', etcdFlags(directory, socket, durable));
  await whenReady(etcd, (waiting) => fileAppears(socket, waiting), signal);

  const port = await freePort();
  const api: ApiAddress = { port, ca: certificates.ca, token: admin.token };
  const flags = apiserverFlags({ directory, socket, port, certificates });
  const apiserver = await start('kube-apiserver', [...flags, ...(options.apiserverFlags ?? [])]);
  await whenReady(apiserver, (waiting) => becomesReady(api, waiting), signal);

  const url = `https://127.0.0.1:${port}`;
  const kubeconfigFile = join(directory, 'kubeconfig');
  const kubeconfig = kubeconfigText({ url, ca: certificates.ca, token: admin.token });
  await writeFile(kubeconfigFile, kubeconfig, { mode: 0o600 });

  if (controllers.length > 0) {
    const manager = await start(
      'kube-controller-manager',
      controllerManagerFlags({ kubeconfigFile, controllers, certificates }),
    );
    const made = firstMade(controllers);
    if (made) await whenReady(manager, (waiting) => firstEvent(api, made, waiting), signal);
  }
  if (options.scheduler) await start('kube-scheduler', schedulerFlags(kubeconfigFile));

  return rigOf(opened.move(), components, {
    url,
    ca: certificates.ca,
    adminToken: admin.token,
    kubeconfigFile,
    directory,
  });
}

type RigFacts = Omit<KubeRig, 'pids' | 'stop' | typeof Symbol.asyncDispose>;

function rigOf(opened: AsyncDisposableStack, components: readonly Component[], facts: RigFacts): KubeRig {
  const stop = async () => {
    const running = Symbol();
    const fates = components.map((component) => Promise.race([component.failed, Promise.resolve(running)]));
    const results = await Promise.allSettled(fates);
    await Promise.all(components.map((component) => component[Symbol.asyncDispose]()));
    await opened.disposeAsync();
    const died = results.find((result) => result.status === 'rejected');
    if (died) throw died.reason;
  };
  return {
    ...facts,
    pids: Object.fromEntries(components.map(({ name, pid }) => [name, pid])),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function etcdFlags(directory: string, socket: string, durable: boolean): string[] {
  const nobody = 'http://127.0.0.1:1'; // a cluster of one: the addresses it tells to others are never used
  return [
    '--name=rig',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=unix://${socket}`,
    `--advertise-client-urls=${nobody}`,
    '--listen-peer-urls=unix://peers.sock',
    `--initial-advertise-peer-urls=${nobody}`,
    `--initial-cluster=rig=${nobody}`,
    '--log-level=warn',
    ...(durable ? [] : ['--unsafe-no-fsync']),
  ];
}

interface ApiserverFacts {
  readonly directory: string;
  readonly socket: string;
  readonly port: number;
  readonly certificates: RigCertificates;
}

function apiserverFlags({ directory, socket, port, certificates }: ApiserverFacts): string[] {
  return [
    `--etcd-servers=unix://${socket}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none', // a loopback address is no endpoint for others
    `--secure-port=${port}`,
    `--tls-cert-file=${certificates.certificateFile}`,
    `--tls-private-key-file=${certificates.keyFile}`,
    `--client-ca-file=${certificates.caFile}`,
    `--token-auth-file=${join(directory, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${serviceNetwork}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${certificates.accountPublicKeyFile}`,
    `--service-account-signing-key-file=${certificates.accountKeyFile}`,
    '--allow-privileged=true',
  ];
}

interface ControllerManagerFacts {
  readonly kubeconfigFile: string;
  readonly controllers: readonly string[];
  readonly certificates: RigCertificates;
}

function controllerManagerFlags({ kubeconfigFile, controllers, certificates }: ControllerManagerFacts) {
  return [
    `--kubeconfig=${kubeconfigFile}`,
    '--leader-elect=false',
    '--secure-port=0', // nobody asks it anything, and a port less can clash
    `--controllers=${controllers.join(',')}`,
    '--kube-api-qps=500', // with the usual limits it starts its controllers one by one, for seconds
    '--kube-api-burst=1000',
    `--service-account-private-key-file=${certificates.accountKeyFile}`,
    `--root-ca-file=${certificates.caFile}`,
  ];
}

function schedulerFlags(kubeconfigFile: string): string[] {
  return [`--kubeconfig=${kubeconfigFile}`, '--leader-elect=false', '--secure-port=0'];
}

/** A collection in which these controllers make an object by themselves at the start; its coming shows they run. */
function firstMade(controllers: readonly string[]): string | undefined {
  if (controllers.includes('serviceaccount-controller')) return '/api/v1/namespaces/default/serviceaccounts';
  if (controllers.includes('root-ca-certificate-publisher-controller'))
    return '/api/v1/namespaces/default/configmaps';
  return undefined;
}

/** Waits for a sign of a component, but not beyond its end. */
async function whenReady(
  component: Component,
  sign: (waiting: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const seen = sign(AbortSignal.any([signal, over.signal]));
  try {
    await Promise.race([seen, component.failed]);
  } catch (err) {
    if (err !== signal.reason || (err as Error).name !== 'TimeoutError') throw err;
    const seconds = startTimeoutMs / 1000;
    const words = await component.lastWords();
    throw new Fault('timeout', `start ${component.name}: not ready after ${seconds} s:\n${words}`);
  } finally {
    over.abort();
    await seen.catch(() => {}); // an echo of our own abort, or already thrown
  }
}

/** kube-apiserver has no event for this: it tells only who asks, and refuses connections before. */
async function becomesReady(api: ApiAddress, signal: AbortSignal): Promise<void> {
  while (!(await isReady(api, signal))) await pause(50, signal);
}

async function fileAppears(path: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = () => existsSync(path) && resolve();
  const watcher = watch(dirname(path), look);
  watcher.on('error', reject);
  look(); // it may have been there before we watched
  try {
    await raceAbort(promise, signal);
  } finally {
    watcher.close();
  }
}

/** Memory where it is roomy: etcd alone sets 128 MB aside. A container's /dev/shm is often too small. */
async function dataHome(durable: boolean): Promise<string> {
  if (durable) return tmpdir();
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 2 * 2 ** 30 ? '/dev/shm' : tmpdir();
}

function secret(): string {
  return randomBytes(16).toString('hex');
}
