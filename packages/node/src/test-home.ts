/** A real home for this package's system tests: real containers and network, the API in memory. */
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, silentLog, systemClock } from '@hutch/base';
import type { Pod, PodSpec } from '@hutch/kube-meta';
import { createNodeAgent, type NodeAgent } from './agent.ts';
import { requireTools, runCommand } from './command.ts';
import { cgroupsBeginning } from './containers/cgroups.ts';
import { FakeApi } from './fake-api.ts';
import { homeLayout } from './home.ts';
import type { HomeNetworkPlan } from './network/plan.ts';
import { type HomeNames, readHomeNames } from './open-home.ts';
import { type SweepReport, sweepHome } from './sweep.ts';
import { aContainer } from './test-objects.ts';

export const isReady = (pod: Pod | undefined): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
export const isGone = (pod: Pod | undefined): boolean => pod === undefined;
export const hasEnded = (pod: Pod | undefined): boolean =>
  pod?.status?.phase === 'Failed' || pod?.status?.phase === 'Succeeded';

/** A pod of one container that runs a shell script to its end. */
export function script(
  text: string,
  container: Parameters<typeof aContainer>[0] = {},
  spec: Partial<PodSpec> = {},
): PodSpec {
  return {
    restartPolicy: 'Never',
    ...spec,
    containers: [aContainer({ command: ['sh', '-c', text], ...container })],
  };
}

/** A log whose next line of some text can be waited for. */
export function openLog(): { readonly log: Log; hears(message: string): Promise<void> } {
  const lines = new EventEmitter();
  const say = (message: string) => void lines.emit(message);
  const log: Log = { debug: say, info: say, warn: say, error: say, with: () => log };
  const hears = async (message: string) => {
    await once(lines, message, { signal: AbortSignal.timeout(20_000) });
  };
  return { log, hears };
}

// shared, as between the homes of a machine
const imageDir = mkdtempSync(join(tmpdir(), 'hutch-images-'));
process.once('exit', () => rmSync(imageDir, { recursive: true, force: true }));

export class TestHome implements AsyncDisposable {
  readonly api = new FakeApi();
  readonly dataDir: string;
  readonly #root: string;
  readonly #log: Log;
  #agent: NodeAgent | undefined;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(root: string, log: Log) {
    this.#root = root;
    this.#log = log;
    this.dataDir = join(root, 'home');
  }

  static async open(log: Log = silentLog): Promise<TestHome> {
    const home = new TestHome(await mkdtemp(join(tmpdir(), 'hutch-node-')), log);
    home.start();
    return home;
  }

  start(): void {
    this.#stop = new AbortController();
    this.#agent = createNodeAgent({
      client: this.api,
      nodeName: 'node',
      dataDir: this.dataDir,
      imageDir,
      images: {
        'hutch.internal/host': { type: 'host' },
        'test/tools': { type: 'directory', path: import.meta.dirname },
      },
      clock: systemClock,
      log: this.#log,
    });
    this.#running = this.#agent.run(this.#stop.signal);
    this.#running.catch((err: unknown) => this.#log.error('agent failed', { err }));
  }

  get agent(): NodeAgent {
    if (!this.#agent) throw new Error('the agent is not running');
    return this.#agent;
  }

  /** The agent goes, its containers stay. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async names(): Promise<HomeNames> {
    const names = await readHomeNames(homeLayout(this.dataDir), this.#log);
    if (!names) throw new Error('the home has claimed nothing');
    return names;
  }

  async network(): Promise<HomeNetworkPlan> {
    return (await this.names()).network;
  }

  async output(name: string): Promise<string> {
    const chunks = this.agent.streams.logs({ namespace: 'default', name }, {}, this.#stop.signal);
    return Buffer.concat(await Array.fromAsync(chunks)).toString();
  }

  /** Resolves when a running container has written exactly this. */
  async says(name: string, text: string, container = 'main'): Promise<void> {
    const limit = AbortSignal.timeout(10_000);
    let said = '';
    for await (const chunk of this.agent.streams.logs(
      { namespace: 'default', name },
      { container, follow: true },
      limit,
    )) {
      said += Buffer.from(chunk).toString();
      if (said === text) return;
    }
    throw new Error(`pod ${name} said ${JSON.stringify(said)}`);
  }

  /** Runs a script in a pod to its end and returns what it wrote. */
  async run(name: string, spec: PodSpec): Promise<{ readonly output: string; readonly pod: Pod }> {
    this.api.addPod(name, spec);
    const pod = await this.api.until(name, hasEnded);
    if (!pod) throw new Error(`pod ${name} disappeared`);
    return { output: await this.output(name), pod };
  }

  /** The host pid of a container's first process. */
  async pid(pod: Pod, container = 'main', attempt = 0): Promise<number> {
    const directory = join(
      homeLayout(this.dataDir).pods,
      pod.metadata.uid,
      'containers',
      container,
      String(attempt),
    );
    return Number(await readFile(join(directory, 'container.pid'), 'utf8'));
  }

  /** The pod's own directory. */
  directory(pod: Pod): string {
    return join(homeLayout(this.dataDir).pods, pod.metadata.uid);
  }

  netns(pod: Pod): string {
    return join(homeLayout(this.dataDir).pods, pod.metadata.uid, 'netns');
  }

  sweep(): Promise<SweepReport> {
    return sweepHome({ dataDir: this.dataDir, log: this.#log });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.sweep();
    await rm(this.#root, { recursive: true, force: true });
  }
}

/** Everything on the machine that bears a home's name. */
export async function tracesOf(dataDir: string, names: HomeNames): Promise<string[]> {
  const { network, containerPrefix } = names;
  const [mounts, links, tables, groups, processes] = await Promise.all([
    readFile('/proc/self/mountinfo', 'utf8'),
    readdir('/sys/class/net'),
    runCommand(requireTools().nft, ['list', 'tables']),
    cgroupsBeginning(containerPrefix),
    commandLines(),
  ]);
  return [
    ...mounts.split('\n').filter((line) => line.includes(dataDir)),
    ...links.filter((link) => link.startsWith(network.linkPrefix)),
    ...tables.split('\n').filter((line) => line.endsWith(` ${network.table}`)),
    ...groups,
    ...processes.filter((line) => line.includes(dataDir)),
  ];
}

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
}
