/**
 * `hutch run`: one command in a fresh sandbox.
 *
 * Find the running home or bring one up inside this process → create the sandbox → start the command in
 * it → join it to this terminal → remove everything → exit as the command did.
 */
import { Fault, isFault, messageOf } from '@hutch/base';
import type { ProcessExited } from '@hutch/runtime-protocol';
import { CommandNotStarted, Hutch, type Sandbox, type Stage } from '@hutch/sdk';
import type { DataDir } from '../home/data-dir.ts';
import { startDetached } from '../home/detached.ts';
import { readEndpoint } from '../home/endpoint.ts';
import { bridge, type Stdio, tameOutputErrors, terminalSize } from './bridge.ts';
import { exitCodeOf, exitCodes, signalExitCode } from './exit-codes.ts';
import { httpFetch } from './http-fetch.ts';
import { Interrupted, Interrupts } from './interrupt.ts';
import { Timings } from './timings.ts';
import { type OutputFormat, UsageFault } from './values.ts';

export interface RunOptions {
  readonly command: readonly string[];
  readonly image?: string | undefined;
  readonly name?: string | undefined;
  readonly keep: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string | undefined;
  readonly cpu?: string | undefined;
  readonly memory?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly tty: boolean;
  readonly term?: string | undefined;
  readonly timings: boolean;
  readonly output: OutputFormat;
  readonly dataDir: DataDir;
  readonly verbose: boolean;
  /** What a home that is started for this run inherits. */
  readonly ownEnv: NodeJS.ProcessEnv;
}

/** What `-o json` keeps of each stream; more than this is what files are for. */
const capturedBytes = 16 << 20;

export async function run(options: RunOptions, stdio: Stdio): Promise<number> {
  requireTerminal(options, stdio);
  tameOutputErrors(stdio);
  using interrupts = new Interrupts();
  const timings = new Timings();
  timings.mark('load program');
  try {
    const podMoments: Record<string, number> = {};
    await using home = await openHome(options, stdio, interrupts.signal, podMoments);
    timings.mark(home.isOwn ? 'start home' : 'find home');
    const hutch = new Hutch({ url: home.url, token: home.token, fetch: httpFetch });
    const running = runIn(hutch, options, stdio, interrupts, { timings, podMoments });
    running.catch(() => {}); // when the home fails first, that is what is told
    const result = await Promise.race([running, home.failed]);
    if (home.isOwn) {
      // The command has ended, and how it did is what counts: what cannot be cleared away now is only told.
      await stopHome(home, stdio);
      timings.mark('stop home');
    }
    report(result, options, stdio, timings);
    return result.exitCode;
  } catch (err) {
    if (err instanceof Interrupted) return signalExitCode(err.interruptedBy);
    if (options.name !== undefined && isFault(err, 'already-exists')) {
      const { name } = options;
      const hint = `use it with: hutch exec ${name} -- COMMAND, or remove it with: hutch rm ${name}`;
      throw new Fault('already-exists', `there already is a sandbox "${name}"; ${hint}`, { cause: err });
    }
    throw err;
  }
}

export function requireTerminal({ tty }: Pick<ExecOptions, 'tty'>, { stdin, stdout }: Stdio): void {
  if (!tty || (stdin.isTTY && stdout.isTTY)) return;
  throw new UsageFault('--tty needs a terminal: leave it out when input or output is a pipe or a file');
}

interface OpenHome extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Brought up by this command, and gone with it. */
  readonly isOwn: boolean;
  /** Rejects when the home can no longer do its work; never settles otherwise. */
  readonly failed: Promise<never>;
}

async function openHome(
  options: RunOptions,
  stdio: Stdio,
  signal: AbortSignal,
  podMoments: Record<string, number>,
): Promise<OpenHome> {
  const { dataDir } = options;
  let running = readEndpoint(dataDir);
  if (!running && options.keep) {
    stdio.stderr.write('hutch: no home is running; starting one with `hutch up -d` to keep the sandbox in\n');
    await startDetached(dataDir, { signal, env: options.ownEnv });
    running = readEndpoint(dataDir);
  }
  if (running) {
    return {
      url: running.router,
      token: running.token,
      isOwn: false,
      failed: new Promise(() => {}),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const { startRunHome } = await import('../home/run-home.ts');
  const home = await startRunHome({
    dataDir,
    signal,
    say: (text) => stdio.stderr.write(`hutch: ${text}\n`),
    verbose: options.verbose,
    onPodStage: ({ times }, stage) => {
      if (stage !== 'seen') podMoments[`pod ${stage}`] = times[stage] ?? 0;
    },
  });
  return {
    url: home.router,
    token: home.token,
    isOwn: true,
    failed: home.failed,
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

interface Result {
  readonly sandbox: string;
  readonly exit: ProcessExited;
  readonly exitCode: number;
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
}

/** How long things take, and what our own node says of the pod. */
interface Clocks {
  readonly timings: Timings;
  readonly podMoments: Readonly<Record<string, number>>;
}

async function runIn(
  hutch: Hutch,
  options: RunOptions,
  stdio: Stdio,
  interrupts: Interrupts,
  { timings, podMoments }: Clocks,
): Promise<Result> {
  const { signal } = interrupts;
  const sandbox = await hutch.sandboxes.create(
    {
      name: options.name,
      generateName: 'run-',
      image: options.image,
      resources: { cpu: options.cpu, memory: options.memory },
    },
    { signal, onStage: stageTeller(stdio, timings) },
  );
  timings.mark('sandbox ready');
  timings.parts(podMoments);
  try {
    return await runCommand(sandbox, options, stdio, interrupts, timings);
  } finally {
    if (!options.keep) {
      await remove(sandbox, stdio);
      timings.mark('remove sandbox');
    }
  }
}

async function stopHome(home: AsyncDisposable, stdio: Stdio): Promise<void> {
  try {
    await home[Symbol.asyncDispose]();
  } catch (err) {
    warn(stdio, `while clearing up: ${messageOf(err)}`);
  }
}

/** A person at a terminal is told what a sandbox waits for; a program is told by how it ends. */
function stageTeller(stdio: Stdio, timings: Timings): (stage: Stage) => void {
  const quietUntil = performance.now() + 1_000;
  return (stage) => {
    if (stage.type === 'created') timings.mark('sandbox accepted');
    const isSlow = stage.type === 'waiting' && performance.now() > quietUntil;
    if (isSlow && stdio.stderr.isTTY) warn(stdio, `waiting for the sandbox: ${stage.message}`);
  };
}

function warn(stdio: Stdio, text: string): void {
  stdio.stderr.write(`hutch: ${text}\n`);
}

async function runCommand(
  sandbox: Sandbox,
  options: RunOptions,
  stdio: Stdio,
  interrupts: Interrupts,
  timings: Timings,
): Promise<Result> {
  const captured = options.output === 'json' ? new Capture() : undefined;
  const exit = await execIn(sandbox, { ...options, sink: captured?.sink }, stdio, interrupts, timings);
  timings.mark('command');
  return {
    sandbox: sandbox.name,
    exit,
    exitCode: exitCodeOf(exit),
    stdout: captured?.text('stdout'),
    stderr: captured?.text('stderr'),
  };
}

export interface ExecOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly tty: boolean;
  /** What kind of terminal it is. */
  readonly term?: string | undefined;
  readonly sink?: ((stream: 'stdout' | 'stderr', data: Uint8Array) => void) | undefined;
}

/** Starts the command in the sandbox and stays with it until it has exited. Shared with `hutch exec`. */
export async function execIn(
  sandbox: Sandbox,
  options: ExecOptions,
  stdio: Stdio,
  interrupts: Interrupts,
  timings: Timings,
): Promise<ProcessExited> {
  const command = await startCommand(sandbox, options, stdio, interrupts.signal);
  if ('exitCode' in command) return command;
  timings.mark('command started');
  const exit = await bridge(command, { stdio, interrupts, tty: options.tty, sink: options.sink });
  if (exit.timedOut) {
    stdio.stderr.write(
      `hutch: the command did not finish within ${(options.timeoutMs ?? 0) / 1000} s and was ended; give it more with --timeout\n`,
    );
  }
  return exit;
}

async function startCommand(sandbox: Sandbox, options: ExecOptions, stdio: Stdio, signal: AbortSignal) {
  try {
    return await sandbox.commands.start(options.command, {
      stdin: true,
      // A program on a terminal asks what kind it is.
      env: { ...(options.tty ? { TERM: options.term ?? 'xterm' } : {}), ...options.env },
      cwd: options.workdir,
      timeoutMs: options.timeoutMs,
      terminal: options.tty ? terminalSize(stdio) : undefined,
      signal,
    });
  } catch (err) {
    if (!(err instanceof CommandNotStarted)) throw err;
    const exitCode = { 'not-found': exitCodes.notFound, 'not-executable': exitCodes.notExecutable }[
      err.reason as string
    ];
    if (exitCode === undefined) throw err;
    stdio.stderr.write(`hutch: ${err.message}\n`);
    return { exitCode };
  }
}

/** A sandbox that cannot be removed now is named, so that a person can do it. */
async function remove(sandbox: Sandbox, stdio: Stdio): Promise<void> {
  try {
    await sandbox.delete();
  } catch (err) {
    if (isFault(err, 'not-found')) return;
    stdio.stderr.write(
      `hutch: could not remove sandbox ${sandbox.name}: ${messageOf(err)}; try: hutch rm ${sandbox.name}\n`,
    );
  }
}

class Capture {
  readonly #chunks = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  #bytes = 0;

  readonly sink = (stream: 'stdout' | 'stderr', data: Uint8Array): void => {
    this.#bytes += data.length;
    if (this.#bytes > capturedBytes) {
      throw new Fault(
        'too-large',
        `--output json keeps at most ${capturedBytes >> 20} MiB of output; write it to a file instead`,
      );
    }
    this.#chunks[stream].push(data.slice());
  };

  text(stream: 'stdout' | 'stderr'): string {
    return Buffer.concat(this.#chunks[stream]).toString('utf8');
  }
}

function report(result: Result, options: RunOptions, stdio: Stdio, timings: Timings): void {
  if (options.output === 'json') {
    const { exit, ...rest } = result;
    const stages = Object.fromEntries(timings.stages.map(({ name, ms }) => [name, Number(ms.toFixed(1))]));
    stdio.stdout.write(
      `${JSON.stringify({ ...rest, ...exit, exitCode: rest.exitCode, timingsMs: stages }, undefined, 2)}\n`,
    );
  } else if (options.keep) {
    stdio.stderr.write(
      `hutch: kept sandbox ${result.sandbox}; go on with: hutch exec ${result.sandbox} -- COMMAND\n`,
    );
  }
  if (options.timings) stdio.stderr.write(timings.toString());
}
