/**
 * Joins a process in a sandbox to this terminal: what is typed or piped goes in, what it writes comes
 * out, signals and window sizes are passed on, and its exit is the result.
 *
 * Nothing is collected: a slow reader of our stdout slows the process down, and so does it our stdin.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { pause } from '@hutch/base';
import type { ProcessExited, TerminalSize } from '@hutch/runtime-protocol';
import type { RunningCommand } from '@hutch/sdk';
import { Interrupted, type InterruptSignal, type Interrupts } from './interrupt.ts';

/** How long an interrupted command may take to clean up before it is killed. */
const interruptGraceMs = 5_000;
/** How long a sandbox may take to tell that a killed command is gone, before we leave without its word. */
const lastWordMs = 2_000;

export interface Stdio {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export interface BridgeOptions {
  readonly stdio: Stdio;
  readonly interrupts: Interrupts;
  readonly tty: boolean;
  /** Where output goes instead of this terminal. */
  readonly sink?: ((stream: 'stdout' | 'stderr', data: Uint8Array) => void) | undefined;
}

export function terminalSize({ stdout }: Stdio): TerminalSize {
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 }; // some terminals have no size
}

export async function bridge(command: RunningCommand, options: BridgeOptions): Promise<ProcessExited> {
  const { stdio, interrupts } = options;
  const over = new AbortController();
  using _terminal = options.tty ? rawTerminal(command, stdio) : undefined;
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>();
  givenUp.catch(() => {}); // mostly nobody has to
  interrupts.take(passOn(command, over.signal, giveUp));
  const feeding = feed(command, stdio.stdin);
  const printed = async (): Promise<ProcessExited> => {
    for await (const { stream, data } of command.output) {
      if (options.sink) options.sink(stream, data);
      else await write(stdio[stream], data);
    }
    return await command.wait();
  };
  try {
    return await Promise.race([printed(), givenUp]);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EPIPE') throw err;
    // Our reader has gone (`hutch run -- yes | head`): the command ends as it would have on a pipe.
    await command.signal('SIGPIPE').catch(() => {}); // it may just have exited
    await command[Symbol.asyncDispose](); // one that ignores the signal would write to nobody for ever
    return { signal: 'SIGPIPE' };
  } finally {
    interrupts.take(undefined);
    over.abort();
    stdio.stdin.destroy();
    await feeding;
  }
}

async function write(target: Writable, data: Uint8Array): Promise<void> {
  if (target.errored) throw target.errored;
  if (!target.write(data)) await once(target, 'drain');
}

/** Sends stdin until it ends. A command that stopped reading is not a failure of ours. */
async function feed(command: RunningCommand, stdin: NodeJS.ReadStream): Promise<void> {
  try {
    await command.writeStdin(stdin as AsyncIterable<Uint8Array>);
  } catch {
    return; // the command has exited, or its connection is lost, which the output side reports
  }
}

/**
 * The first signal goes to the command; a second one, or its grace running out, kills it. A sandbox that does not
 * even answer to that (its processes may have used up everything) is left behind.
 */
function passOn(
  command: RunningCommand,
  over: AbortSignal,
  giveUp: (err: Interrupted) => void,
): (signal: InterruptSignal) => void {
  let asked = false;
  const send = (signal: string) => void command.signal(signal).catch(() => {}); // it may just have exited
  const later = (ms: number, act: () => void) => void pause(ms, over).then(act, () => {});
  const kill = (signal: InterruptSignal) => {
    send('SIGKILL');
    later(lastWordMs, () => giveUp(new Interrupted(signal)));
  };
  return (signal) => {
    if (asked) return kill(signal);
    asked = true;
    send(signal);
    later(interruptGraceMs, () => kill(signal));
  };
}

/**
 * Hands this terminal over: every key and every byte of output passes unchanged. With stty, because Node's own
 * raw mode still turns each line end of the output into two.
 */
function rawTerminal(command: RunningCommand, stdio: Stdio): Disposable {
  const onResize = () => void command.resize(terminalSize(stdio)).catch(() => {}); // it may just have exited
  const before = stty('-g');
  stty('raw', '-echo');
  stdio.stdout.on('resize', onResize);
  return {
    [Symbol.dispose]() {
      stdio.stdout.off('resize', onResize);
      stty(before);
    },
  };
}

function stty(...args: string[]): string {
  return execFileSync('stty', args, { stdio: ['inherit', 'pipe', 'inherit'], encoding: 'utf8' }).trim();
}

/** Makes a failed write an error of the next one, which is told, instead of one that ends this program. */
export function tameOutputErrors({ stdout, stderr }: Stdio): void {
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
}
