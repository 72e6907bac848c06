import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';

export interface ChildOptions {
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Gets what the child writes to file descriptor 3, which exists only then. */
  readonly onReport?: (report: Readable) => void;
}

export interface ChildResult {
  /** As a shell would give it: 128 + N for death by signal N. */
  readonly code: number;
  readonly timedOut: boolean;
  /** Standard output and error as they came; only the end when there was much. */
  readonly output: string;
}

/** Time to tidy up after SIGTERM before SIGKILL, and for pipes held by strangers to close. */
const graceMs = 5_000;
const keptOutputBytes = 256 * 1024;

/**
 * Runs a command without input and waits for its end.
 *
 * Guarantees: the child leads its own process group, and none of that group outlives this call.
 * A failing or late child is a result. On abort the group is stopped and `signal.reason` thrown.
 */
export async function runChild(command: readonly string[], options: ChildOptions): Promise<ChildResult> {
  options.signal.throwIfAborted();
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', options.onReport ? 'pipe' : 'ignore'],
  });
  const output = collectTail([child.stdout as Readable, child.stderr as Readable]);
  options.onReport?.(child.stdio[3] as Readable);

  const late = AbortSignal.timeout(options.timeoutMs);
  const code = await exitOf(child, AbortSignal.any([options.signal, late]));
  options.signal.throwIfAborted();
  return { code, timedOut: late.aborted, output: output() };
}

async function exitOf(child: ChildProcess, stop: AbortSignal): Promise<number> {
  let kill: NodeJS.Timeout | undefined;
  const onStop = () => {
    signalGroup(child, 'SIGTERM');
    kill = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  };
  stop.addEventListener('abort', onStop, { once: true });
  try {
    const closed = once(child, 'close');
    closed.catch(() => {}); // a failure to start is thrown by the next line
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signalGroup(child, 'SIGKILL'); // whatever the leader left behind
    // A process that left the group may still hold our pipes: do not wait for it without end.
    const letGo = setTimeout(() => destroyPipes(child), graceMs);
    await closed;
    clearTimeout(letGo);
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  } finally {
    stop.removeEventListener('abort', onStop);
    clearTimeout(kill);
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ESRCH') throw err; // nobody left is what we want
  }
}

function destroyPipes(child: ChildProcess): void {
  for (const pipe of child.stdio) pipe?.destroy();
}

function collectTail(streams: readonly Readable[]): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      while (size > keptOutputBytes && chunks.length > 1) size -= (chunks.shift() as Buffer).length;
    });
  }
  return () => Buffer.concat(chunks).toString('utf8');
}
