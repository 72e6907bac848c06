/**
 * `npm run bench -- run`: what one command in a fresh sandbox costs, beside a plain `runc run` of the same bundle in
 * the same run, measured in turns so that noise meets all alike.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { markdownTable, row, summarise, summaryHead } from './stats.ts';

const root = resolve(import.meta.dirname, '..');
const launcher = join(root, 'hutch');

export async function bench(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? 25);
  const dataDir = mkdtempSync(join(tmpdir(), 'hutch-bench-'));
  const hutch = (...words: string[]) =>
    execFileSync(launcher, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    hutch('run', '--data-dir', dataDir, '--', 'true'); // builds and prepares what is prepared once
    const load = loadavg()[0]?.toFixed(1);
    const without = await repeated(Math.ceil(rounds / 2), () => hutchRun(dataDir));

    hutch('up', '-d', '--data-dir', dataDir);
    const pid = (JSON.parse(readFileSync(join(dataDir, 'endpoint.json'), 'utf8')) as { pid: number }).pid;
    const idleRssMb = residentMb(pid);
    hutch('run', '--data-dir', dataDir, '--keep', '--name', 'reference', '--', 'true');
    const plain = plainRunc(dataDir);
    const reference: number[] = [];
    const withHome: Run[] = [];
    for (let round = 0; round < rounds; round++) {
      reference.push(timed(plain));
      withHome.push(await hutchRun(dataDir));
    }
    const runtime = await runtimeFigures(Math.ceil(rounds / 2));

    const p50 = summarise(reference).p50;
    const ratio = (runs: readonly Run[]) => (summarise(runs.map(({ ms }) => ms)).p50 / p50).toFixed(2);
    print(`${cpus().length} cores, load ${load} at the start, ${rounds} rounds, in turns`);
    print(
      markdownTable(
        [...summaryHead, 'p50 ÷ plain'],
        [
          [...row('plain `runc run` of the same bundle', reference), '1'],
          [
            ...row(
              '`hutch run -- true`, home running',
              withHome.map(({ ms }) => ms),
            ),
            ratio(withHome),
          ],
          [
            ...row(
              '`hutch run -- true`, no home',
              without.map(({ ms }) => ms),
            ),
            ratio(without),
          ],
          [...row('runtime: start to first answer', runtime.startMs), ''],
        ],
      ),
    );
    print('Stages, p50 in ms:');
    print(stageTable({ 'home running': withHome, 'no home': without }));
    print(
      markdownTable(
        ['memory (MB)', ''],
        [
          ['idle home, resident', idleRssMb.toFixed(0)],
          ['runtime idle, private', runtime.privateMb.toFixed(1)],
          ['runtime idle, resident', runtime.residentMb.toFixed(1)],
        ],
      ),
    );
  } finally {
    spawnSync(launcher, ['down', '--data-dir', dataDir], { stdio: 'ignore' });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

interface Run {
  readonly ms: number;
  readonly stages: Readonly<Record<string, number>>;
}

/** The whole command as a person waits for it, and what it says of its stages. */
async function hutchRun(dataDir: string): Promise<Run> {
  let text = '';
  const startedAt = performance.now();
  const child = spawn(launcher, ['run', '--data-dir', dataDir, '-o', 'json', '--', 'true'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await closed(child);
  const ms = performance.now() - startedAt;
  return { ms, stages: (JSON.parse(text) as { timingsMs: Record<string, number> }).timingsMs };
}

async function closed(child: ChildProcess): Promise<void> {
  const code = await new Promise((done) => child.once('close', done));
  if (code !== 0) throw new Error(`a measured command ended with ${code}`);
}

async function repeated(times: number, work: () => Promise<Run>): Promise<Run[]> {
  const runs: Run[] = [];
  for (let round = 0; round < times; round++) runs.push(await work());
  return runs;
}

function timed(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/** The reference sandbox's own bundle, with `true` as its command, run by runc alone where its root is mounted. */
function plainRunc(dataDir: string): () => void {
  const pods = join(dataDir, 'node', 'pods');
  const pod = readdirSync(pods)[0] as string;
  const original = join(pods, pod, 'containers', 'sandbox', '0');
  const config = JSON.parse(readFileSync(join(original, 'config.json'), 'utf8')) as {
    process: { args: string[] };
    linux: { cgroupsPath: string };
  };
  config.process.args = ['/usr/bin/true'];
  config.linux.cgroupsPath = '/hutch-bench';
  const bundle = join(dataDir, 'bundle');
  mkdirSync(bundle);
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(config));
  const conmon = readFileSync(join(original, 'conmon.pid'), 'utf8').trim();
  const command = [
    '-t',
    conmon,
    '-m',
    'runc',
    '--root',
    join(dataDir, 'plain'),
    'run',
    '--bundle',
    bundle,
    'plain',
  ];
  return () => void execFileSync('nsenter', command, { stdio: ['ignore', 'inherit', 'inherit'] });
}

function stageTable(columns: Readonly<Record<string, readonly Run[]>>): string {
  const names = [
    ...new Set(Object.values(columns).flatMap((runs) => runs.flatMap(({ stages }) => Object.keys(stages)))),
  ];
  const middle = (runs: readonly Run[], name: string) => {
    const samples = runs.flatMap(({ stages }) => stages[name] ?? []);
    return samples.length === 0 ? '' : summarise(samples).p50.toFixed(1);
  };
  const rows = names.map((name) => [name, ...Object.values(columns).map((runs) => middle(runs, name))]);
  return markdownTable(['stage', ...Object.keys(columns)], rows);
}

/** The compiled runtime, started through its own loader as in a sandbox. */
async function runtimeFigures(times: number) {
  execFileSync('sync'); // pages of a program that was just built count as its own until they are on disk
  const startMs: number[] = [];
  let privateMb = 0;
  let residentMbNow = 0;
  const directory = join(root, 'dist', 'runtime');
  for (let round = 0; round < times; round++) {
    const port = await freePort();
    const startedAt = performance.now();
    const child = spawn(
      join(directory, 'lib/ld.so'),
      [
        '--library-path',
        join(directory, 'lib'),
        join(directory, 'bin/hutch-runtime'),
        'serve',
        '--port',
        String(port),
      ],
      { stdio: 'ignore' },
    );
    await answers(`http://127.0.0.1:${port}/`);
    startMs.push(performance.now() - startedAt);
    privateMb = rollupMb(child.pid as number, 'Private_Dirty');
    residentMbNow = residentMb(child.pid as number);
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    await ended;
  }
  return { startMs, privateMb, residentMb: residentMbNow };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Asks without a pause: there is no event for another process beginning to listen. */
async function answers(url: string): Promise<void> {
  for (;;) {
    try {
      await (await fetch(url)).text();
      return;
    } catch {
      await new Promise((done) => setImmediate(done));
    }
  }
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
}

function rollupMb(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1000;
}
