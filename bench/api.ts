/**
 * `npm run bench -- api [REPETITIONS]`: our API server beside a real kube-apiserver with etcd, in turns, every write
 * synced to the same disk on both sides. A fresh store for each repetition; medians of the repetitions are compared.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bearerTokens, createApiServer, ensureCertificates, rulesAuthorizer } from '@hutch/apiserver';
import { pause, silentLog, systemClock } from '@hutch/base';
import { createKubeClient, inProcess } from '@hutch/kube-client';
import { configMaps, type KubeObject, namespaces } from '@hutch/kube-meta';
import { openMemoryStorage } from '@hutch/storage';
import { openKubeRig, whyNoKubeRig } from '../rigs/kube/index.ts';
import { startServer } from '../test/crash/server.ts';
import { type Endpoint, LeanClient } from './lean-client.ts';
import { ageMs, cpuSeconds, residentMb } from './processes.ts';
import { markdownTable, summarise } from './stats.ts';

const never = new AbortController().signal;
const collection = '/api/v1/namespaces/bench/configmaps';
const customCollection = '/apis/bench.example.com/v1/namespaces/bench/widgets';
const customObjects = 10_000;
const clientCounts = [1, 16, 64] as const;
const writesOf = (clients: number) => (clients === 1 ? 800 : 3_200);

interface Running extends AsyncDisposable {
  readonly endpoint: Endpoint;
  readonly pids: readonly number[];
  /** From the start of the first process until it says it is ready. */
  readonly readyMs: number;
}

interface Contender {
  readonly name: 'ours' | 'real';
  start(): Promise<Running>;
}

type Figures = Readonly<Record<string, number>>;

interface Row {
  readonly key: string;
  readonly what: string;
  /** Ours divided by the real one. */
  readonly aim: { readonly atMost: number } | { readonly atLeast: number };
}

const rows: readonly Row[] = [
  { key: 'ready', what: 'start to ready, ms', aim: { atMost: 1 / 5 } },
  { key: 'idle', what: 'resident when idle, MB', aim: { atMost: 1 / 3 } },
  { key: 'full', what: `resident with ${customObjects} custom objects, MB`, aim: { atMost: 1 / 3 } },
  ...clientCounts.flatMap((clients): Row[] => [
    { key: `create ${clients}`, what: `creates per second, ${clients} clients`, aim: { atLeast: 1.5 } },
    { key: `patch ${clients}`, what: `patches per second, ${clients} clients`, aim: { atLeast: 1.5 } },
  ]),
  { key: 'cpu', what: 'CPU seconds per 1,000 writes', aim: { atMost: 0.7 } },
  { key: 'watch 1', what: 'watch delivery p99 with 1 watcher, ms', aim: { atMost: 1 } },
  { key: 'watch 200', what: 'watch delivery p99 with 200 watchers, ms', aim: { atMost: 1 } },
];

export async function bench([repetitions = '3']: readonly string[]): Promise<void> {
  const say = (line: string) => console.log(line);
  const missing = await whyNoKubeRig({ signal: never, say });
  if (missing !== undefined) throw new Error(`there is nothing to compare with: ${missing}`);
  const load = loadavg()[0]?.toFixed(1);
  const directory = await mkdtemp(join(tmpdir(), 'hutch-bench-'));
  try {
    const certificates = join(directory, 'certificates');
    await ensureCertificates(certificates, { clock: systemClock }); // the real server is given its own too
    const contenders = [ours(directory, certificates), real()];
    const figures: Record<Contender['name'], Figures[]> = { ours: [], real: [] };
    const doors: { inside: number; overHttps: number }[] = [];
    for (let round = 0; round < Number(repetitions); round++) {
      for (const contender of contenders) figures[contender.name].push(await measure(contender));
      doors.push(await compareDoors(certificates));
      say(`repetition ${round + 1} of ${repetitions}, load ${loadavg()[0]?.toFixed(1)}`);
    }
    say(
      `\n${cpus().length} cores, load ${load} at the start, ${repetitions} repetitions in turns, medians with their range\n`,
    );
    say(
      markdownTable(
        ['what', 'ours', 'kube-apiserver + etcd', 'ours ÷ real', 'aim', ''],
        rows.map((row) => line(row, figures)),
      ),
    );
    say(doorTable(doors));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

// ---- contenders ------------------------------------------------------------------------------------------------

function ours(directory: string, certificates: string): Contender {
  let count = 0;
  return {
    name: 'ours',
    async start() {
      const server = await startServer({ store: join(directory, `store-${count++}.db`), certificates });
      await ready(server);
      return {
        endpoint: server,
        pids: [server.pid],
        readyMs: ageMs([server.pid]),
        [Symbol.asyncDispose]: () => server.kill(),
      };
    },
  };
}

function real(): Contender {
  return {
    name: 'real',
    async start() {
      const rig = await openKubeRig({ signal: never, controllers: [], durable: true });
      const pids = Object.values(rig.pids);
      const endpoint = { url: rig.url, ca: rig.ca, token: rig.adminToken };
      return { endpoint, pids, readyMs: ageMs(pids), [Symbol.asyncDispose]: () => rig.stop() };
    },
  };
}

async function ready(endpoint: Endpoint): Promise<void> {
  using client = await LeanClient.open(endpoint);
  await client.request({ method: 'GET', path: '/readyz' });
}

// ---- one repetition --------------------------------------------------------------------------------------------

async function measure(contender: Contender): Promise<Figures> {
  await using running = await contender.start();
  const { endpoint, pids, readyMs } = running;
  await pause(2_000, never); // what a start leaves behind is not what idle costs
  const figures: Record<string, number> = { ready: readyMs, idle: residentMb(pids) };
  using first = await LeanClient.open(endpoint);
  await furnish(first);
  await writes(endpoint, { clients: 4, count: 400, request: create('warm') }); // compilers and pools warm up

  const cpuBefore = cpuSeconds(pids);
  let total = 0;
  for (const clients of clientCounts) {
    const count = writesOf(clients);
    figures[`create ${clients}`] = await writes(endpoint, { clients, count, request: create(`c${clients}`) });
    figures[`patch ${clients}`] = await writes(endpoint, { clients, count, request: patch(`c${clients}`) });
    total += 2 * count;
  }
  figures.cpu = ((cpuSeconds(pids) - cpuBefore) / total) * 1000;

  for (const watchers of [1, 200]) figures[`watch ${watchers}`] = await watchDelivery(endpoint, watchers);
  await writes(endpoint, { clients: 16, count: customObjects, request: createCustom });
  await pause(2_000, never);
  figures.full = residentMb(pids);
  return figures;
}

async function furnish(client: LeanClient): Promise<void> {
  const post = (path: string, body: unknown) =>
    client.request({ method: 'POST', path, body: JSON.stringify(body) });
  await post('/api/v1/namespaces', { metadata: { name: 'bench' } });
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.bench.example.com' },
    spec: {
      group: 'bench.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: { text: { type: 'string' }, number: { type: 'integer' } },
                },
              },
            },
          },
        },
      ],
    },
  });
  for (;;) {
    try {
      await client.request({ method: 'GET', path: customCollection });
      return;
    } catch {
      await pause(50, never); // the real server tells nobody when it begins to serve a kind
    }
  }
}

type MakeRequest = (index: number) => Parameters<LeanClient['request']>[0];

const create =
  (prefix: string): MakeRequest =>
  (index) => ({
    method: 'POST',
    path: collection,
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `${prefix}-${index}` },
      data: { text: 'x'.repeat(200) },
    }),
  });

const patch =
  (prefix: string): MakeRequest =>
  (index) => ({
    method: 'PATCH',
    path: `${collection}/${prefix}-${index}`,
    type: 'application/merge-patch+json',
    body: JSON.stringify({ data: { changed: String(index) } }),
  });

const createCustom: MakeRequest = (index) => ({
  method: 'POST',
  path: customCollection,
  body: JSON.stringify({
    apiVersion: 'bench.example.com/v1',
    kind: 'Widget',
    metadata: { name: `w-${index}` },
    spec: { text: 'x'.repeat(200), number: index },
  }),
});

/** Writes per second: each client on a connection of its own, the next request when the last is answered. */
async function writes(
  endpoint: Endpoint,
  { clients, count, request: make }: { clients: number; count: number; request: MakeRequest },
): Promise<number> {
  const connections = await Promise.all(Array.from({ length: clients }, () => LeanClient.open(endpoint)));
  let next = 0;
  const began = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) await connection.request(make(next++));
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  for (const connection of connections) connection[Symbol.dispose]();
  return count / seconds;
}

/** From the scheduled moment of a write until a watcher reads of it; arrivals are open-loop. */
async function watchDelivery(endpoint: Endpoint, watchers: number): Promise<number> {
  const count = 150;
  const perSecond = 30;
  const scheduled = new Map<string, number>();
  const delays: number[] = [];
  const all = Promise.withResolvers<void>();
  const onText = (text: string) => {
    const now = performance.now();
    for (const [, name = ''] of text.matchAll(/"name":"(d\d+-\d+)"/g)) {
      const at = scheduled.get(name);
      if (at !== undefined && delays.push(now - at) === count * watchers) all.resolve();
    }
  };
  const stop = new AbortController();
  using client = await LeanClient.open(endpoint);
  const list = JSON.parse(await client.request({ method: 'GET', path: `${collection}?limit=1` })) as {
    metadata: { resourceVersion: string };
  };
  const path = `${collection}?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
  const opened = Array.from({ length: watchers }, () =>
    openWatch(endpoint, { path, onText, signal: stop.signal }),
  );
  await Promise.all(opened);
  let at = performance.now() + 100;
  let last = Promise.resolve('');
  for (let index = 0; index < count; index++) {
    at += -Math.log(1 - Math.random()) * (1000 / perSecond);
    const name = `d${watchers}-${index}`;
    scheduled.set(name, at);
    await pause(Math.max(0, at - performance.now()), never);
    await last;
    last = client.request({ method: 'POST', path: collection, body: JSON.stringify({ metadata: { name } }) });
  }
  await last;
  await all.promise;
  stop.abort();
  return summarise(delays).p99;
}

interface WatchOptions {
  readonly path: string;
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
}

function openWatch({ url, ca, token }: Endpoint, { path, onText, signal }: WatchOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request(url + path, { ca, signal, agent: false, headers });
    asked.once('response', (answer) => {
      answer
        .setEncoding('utf8')
        .on('data', onText)
        .on('error', () => {});
      resolve();
    });
    asked.on('error', reject); // after the answer has begun, an abort: nobody waits any more
    asked.end();
  });
}

/** Creates per second through each door, on a store that costs nothing: what is left is the door. */
async function compareDoors(certificates: string): Promise<{ inside: number; overHttps: number }> {
  const clients = 16;
  const count = 6_400;
  await using server = await startServer({ certificates });
  using first = await LeanClient.open(server);
  await first.request({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: JSON.stringify({ metadata: { name: 'bench' } }),
  });
  await writes(server, { clients, count, request: create('warm') });
  const overHttps = await writes(server, { clients, count, request: create('run') });

  await using storage = openMemoryStorage();
  const { handle } = createApiServer({
    storage,
    clock: systemClock,
    authenticator: bearerTokens([]),
    authorizer: rulesAuthorizer({}),
    log: silentLog,
  });
  const client = createKubeClient(inProcess(handle, { name: 'bench', groups: ['system:masters'] }));
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  const make = (name: string) =>
    client.create<ConfigMap>(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'bench' },
      data: { text: 'x'.repeat(200) },
    });
  const run = async (prefix: string) => {
    let next = 0;
    const worker = async () => {
      while (next < count) await make(`${prefix}-${next++}`);
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: clients }, worker));
    return count / ((performance.now() - began) / 1000);
  };
  await run('warm');
  return { inside: await run('run'), overHttps };
}

interface ConfigMap extends KubeObject {
  readonly data: Readonly<Record<string, string>>;
}

// ---- telling ---------------------------------------------------------------------------------------------------

function middle(samples: readonly number[]): number {
  return summarise(samples).p50;
}

function shown(samples: readonly number[]): string {
  const { min, max, p50 } = summarise(samples);
  const digits = p50 < 10 ? 2 : 0;
  return `${p50.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

function doorTable(doors: readonly { inside: number; overHttps: number }[]): string {
  const inside = doors.map((one) => one.inside);
  const overHttps = doors.map((one) => one.overHttps);
  const ratio = middle(inside) / middle(overHttps);
  const head = ['our two doors', 'in process', 'over HTTPS', 'ratio', 'aim', ''];
  const what = 'creates per second, 16 clients, store in memory';
  return markdownTable(head, [
    [what, shown(inside), shown(overHttps), ratio.toFixed(2), '≥ 3', ratio >= 3 ? 'met' : 'missed'],
  ]);
}

function line(
  { key, what, aim }: Row,
  figures: Readonly<Record<Contender['name'], readonly Figures[]>>,
): string[] {
  const of = (name: Contender['name']) => figures[name].map((one) => one[key] as number);
  const ratio = middle(of('ours')) / middle(of('real'));
  const [text, isMet] =
    'atMost' in aim
      ? [`≤ ${aim.atMost.toFixed(2)}`, ratio <= aim.atMost]
      : [`≥ ${aim.atLeast}`, ratio >= aim.atLeast];
  return [what, shown(of('ours')), shown(of('real')), ratio.toFixed(2), text, isMet ? 'met' : 'missed'];
}
