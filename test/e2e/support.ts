/** Drives Hutch as a person would, through its launcher, and looks at the machine before and after. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
const launcher = join(root, 'hutch');

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

  /** The pids of every process of the sandboxes under this data directory: conmon first, then what it watches. */
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
  readonly sysctls: readonly string[];
}

export function tracesOf(dataDir: string): Traces {
  return {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .sort(),
    links: output('ip', '-o', 'link')
      .map((line) => line.split(':')[1]?.trim().split('@')[0] ?? '')
      .sort(),
    namespaces: output('ip', 'netns'),
    tables: output('nft', 'list', 'tables'),
    cgroups: cgroupDirs(),
    routes: output('ip', 'route', 'show', 'table', 'all').filter(
      (line) => !line.startsWith('local ') && !line.startsWith('broadcast '),
    ),
    rules: output('ip', 'rule'),
    processes: processesMentioning(dataDir),
    files: [
      ...readdirSync(dataDir).filter((name) => ['node', 'endpoint.json'].includes(name)),
      ...runs(dataDir),
    ],
    sysctls: ['ip_forward', 'conf/all/forwarding'].map(
      (name) => `${name}=${readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim()}`,
    ),
  };
}

function output(command: string, ...args: string[]): string[] {
  return execFileSync(command, args, { encoding: 'utf8' }).split('\n').filter(Boolean).sort();
}

function runs(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, 'runs'));
  } catch {
    return [];
  }
}

function cgroupDirs(): string[] {
  return output('find', '/sys/fs/cgroup', '-type', 'd', '-name', '*hutch*');
}

/** Processes whose command line or root says that they belong to a home in this directory. */
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
