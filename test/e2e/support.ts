/** Drives Hutch as a person would, through its launcher, and looks at the machine before and after. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
const launcher = join(root, 'hutch');

const sandboxesPath = '/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes';

/** Real containers need root; everything else the launcher installs. */
export const skip =
  process.getuid?.() === 0 ? false : 'needs root: sandboxes are made with runc, nftables and mounts';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when this much of stdout has been seen. */
  printed(text: string): Promise<void>;
}

/** A data directory of one test, and Hutch commands on it. */
export class Machine implements AsyncDisposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'hutch-e2e-'));

  start(
    args: readonly string[],
    options: { stdin?: string | Buffer | 'open'; env?: NodeJS.ProcessEnv } = {},
  ): Running {
    const [command, ...rest] = args as [string, ...string[]];
    const child = spawn(launcher, [command, '--data-dir', this.dataDir, ...rest], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const waiting = new Set<() => void>();
    child.stdout?.on('data', (chunk: Buffer) => {
      out.push(chunk);
      for (const wake of waiting) wake();
    });
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin?.on('error', () => {}); // a command that does not read its stdin is no failure
    if (options.stdin !== 'open') child.stdin?.end(options.stdin ?? '');
    const finished = new Promise<Finished>((done, fail) => {
      child.on('error', fail);
      child.on('close', (code, signal) =>
        done({
          code,
          signal,
          stdout: Buffer.concat(out).toString('latin1'),
          stderr: Buffer.concat(err).toString(),
        }),
      );
    });
    const printed = (text: string) =>
      new Promise<void>((done, fail) => {
        const look = () => {
          if (!Buffer.concat(out).toString().includes(text)) return;
          waiting.delete(look);
          done();
        };
        waiting.add(look);
        look();
        finished.then(
          (result) => fail(new Error(`ended without printing "${text}": ${JSON.stringify(result)}`)),
          fail,
        );
      });
    return { child, finished, printed };
  }

  run(
    args: readonly string[],
    options: { stdin?: string | Buffer; env?: NodeJS.ProcessEnv } = {},
  ): Promise<Finished> {
    return this.start(args, options).finished;
  }

  /** Starts a home that lives in its own process. */
  async up(): Promise<number> {
    const result = await this.run(['up', '-d']);
    if (result.code !== 0) throw new Error(`hutch up -d: ${result.stderr}`);
    return this.endpoint().pid;
  }

  endpoint(): { pid: number; api: string; router: string } {
    return JSON.parse(readFileSync(join(this.dataDir, 'endpoint.json'), 'utf8')) as {
      pid: number;
      api: string;
      router: string;
    };
  }

  /** A request to the API with the administrator's token, as any HTTP client would send it. */
  async api(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const headers = { authorization: `Bearer ${this.token()}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`${this.endpoint().router}${path}`, init);
    return { status: answer.status, text: await answer.text() };
  }

  token(): string {
    return readFileSync(join(this.dataDir, 'admin.token'), 'utf8').trim();
  }

  /** A sandbox with the runtime in it, its one container as the case wants it. */
  async create(
    name: string,
    container: object = {},
    spec: object = {},
  ): Promise<{ status: number; text: string }> {
    return await this.api('POST', sandboxesPath, {
      apiVersion: 'agents.x-k8s.io/v1beta1',
      kind: 'Sandbox',
      metadata: { name },
      spec: {
        podTemplate: {
          metadata: { annotations: { 'hutch.internal/runtime': 'inject' } },
          spec: { containers: [{ name: 'sandbox', image: 'hutch.internal/host', ...container }] },
        },
        ...spec,
      },
    });
  }

  /** The pids of what runs in the sandboxes under this directory: of conmon and of PID 1, for each container. */
  containerPids(): { conmon: number; main: number }[] {
    const pods = join(this.dataDir, 'node', 'pods');
    const files = (readdirSync(pods, { recursive: true }) as string[]).filter((name) =>
      name.endsWith('conmon.pid'),
    );
    const read = (file: string) => Number(readFileSync(join(pods, file), 'utf8'));
    return files.map((file) => ({
      conmon: read(file),
      main: read(file.replace('conmon.pid', 'container.pid')),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(['down']);
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** What a sandbox can leave on a machine. Two of these are equal when nothing was left. */
export interface Traces {
  readonly mounts: readonly string[];
  readonly links: readonly string[];
  readonly namespaces: readonly string[];
  readonly tables: readonly string[];
  readonly cgroups: readonly string[];
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  readonly processes: readonly string[];
  readonly files: readonly string[];
  readonly forwarding: readonly string[];
}

/** What a home that lasts keeps on purpose. */
const kept = /^(store\.db.*|admin\.token|kubeconfig|certificates.*|hutch\.log|lock.*|images.*|runs)$/;

export function tracesOf(dataDir: string): Traces {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return {
    mounts: mounts.map((line) => line.split(' ')[4] ?? '').sort(),
    links: readdirSync('/sys/class/net').sort(),
    namespaces: output('lsns', '-n', '-t', 'net', '-o', 'NS'),
    tables: output('nft', 'list', 'tables'),
    cgroups: output('find', '/sys/fs/cgroup', '-type', 'd', '-name', '*hutch*'),
    routes: output('ip', 'route', 'show', 'table', 'all').filter((line) => !/^(local|broadcast) /.test(line)),
    rules: output('ip', 'rule'),
    processes: processesMentioning(dataDir),
    files: (readdirSync(dataDir, { recursive: true }) as string[]).filter((name) => !kept.test(name)).sort(),
    forwarding: readdirSync('/proc/sys/net/ipv4/conf').map(
      (link) => `${link}=${readFileSync(`/proc/sys/net/ipv4/conf/${link}/forwarding`, 'utf8').trim()}`,
    ),
  };
}

function output(command: string, ...args: string[]): string[] {
  return execFileSync(command, args, { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .sort();
}

/** Processes whose command line says that they belong to a home in this directory. */
function processesMentioning(text: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (Number(pid) !== process.pid && words.some((word) => word.includes(text)))
        found.push(words.slice(0, 3).join(' '));
    } catch {
      // it ended while we looked
    }
  }
  return found.sort();
}

/** The highest resident size a process has had, in MB; zero when it has ended. */
export function peakMb(pid: number): number {
  try {
    const match = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Math.round(Number(match?.[1] ?? 0) / 1000);
  } catch {
    return 0;
  }
}
