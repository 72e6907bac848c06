/** Commands in a sandbox. */
import { Fault } from '@hutch/base';
import {
  type Frame,
  type ProcessFailed,
  type ProcessStarted,
  processesPath,
  type StartProcess,
  type TerminalSize,
} from '@hutch/runtime-protocol';
import type { Connection } from './connection.ts';
import { readFrames } from './process-output.ts';
import { type InputSource, RunningCommand } from './running-command.ts';

/** A list is a program and its arguments; a string is a line for the sandbox's `/bin/sh`. */
export type CommandLine = string | readonly string[];

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** After this the whole process group is killed, and the result says `timedOut`. */
  readonly timeoutMs?: number | undefined;
  /** Kills the whole process group, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface StartOptions extends CommandOptions {
  /** Without it the process's stdin is empty. */
  readonly stdin?: boolean | undefined;
  /** Gives the process a terminal of this size. */
  readonly terminal?: TerminalSize | undefined;
  /** `detached`: the process lives on when nobody is attached any more. */
  readonly lifetime?: 'attached' | 'detached' | undefined;
}

export interface RunOptions extends CommandOptions {
  /** Sent to the process, then its stdin is closed. */
  readonly stdin?: InputSource | undefined;
  /** Both streams together; more rejects with a `too-large` fault. Use `start` for output without a limit. */
  readonly maxOutputBytes?: number | undefined;
}

export interface CommandResult {
  /** Undefined when a signal ended the process. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The process never ran: there is no such program, or it cannot be executed, or not there. */
export class CommandNotStarted extends Fault {
  override readonly name: string = 'CommandNotStarted';
  readonly reason: ProcessFailed['reason'];

  constructor({ reason, message }: ProcessFailed) {
    super(reason === 'not-found' ? 'not-found' : 'invalid', message);
    this.reason = reason;
  }
}

const defaultMaxOutputBytes = 64 << 20;

export class Commands {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Runs a command and resolves when it has exited. A non-zero exit is a result: look at `exitCode`. */
  async run(command: CommandLine, options: RunOptions = {}): Promise<CommandResult> {
    const { stdin, maxOutputBytes = defaultMaxOutputBytes, ...rest } = options;
    await using running = await this.start(command, { ...rest, stdin: stdin !== undefined });
    const output = new Collected(maxOutputBytes);
    const reading = async () => {
      for await (const { stream, data } of running.output) output.add(stream, data);
    };
    await Promise.all([reading(), stdin === undefined ? undefined : feed(running, stdin)]);
    const { exitCode, signal, timedOut = false } = await running.wait();
    return { exitCode, signal, timedOut, stdout: output.text('stdout'), stderr: output.text('stderr') };
  }

  /** Resolves when the process runs. Rejects with `CommandNotStarted` when it cannot. */
  async start(command: CommandLine, options: StartOptions = {}): Promise<RunningCommand> {
    const { signal } = options;
    signal?.throwIfAborted();
    const own = new AbortController();
    const dead = new AbortController();
    const shared = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
    const response = await this.#connection.send({
      doing: 'start a command',
      method: 'POST',
      path: processesPath,
      json: startProcess(command, options),
      signal: AbortSignal.any([shared, dead.signal]),
      isFirstContact: true,
    });
    const frames = readFrames(response, { id: 'starting', dead, signal: shared });
    const { id, pid } = await firstFrame(frames);
    return new RunningCommand({ connection: this.#connection, id, pid, frames, signal, own });
  }
}

function startProcess(command: CommandLine, options: StartOptions): StartProcess {
  const { env, cwd, stdin, terminal, timeoutMs, lifetime } = options;
  return {
    command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
    ...(env ? { env } : {}),
    ...(cwd === undefined ? {} : { cwd }),
    ...(stdin ? { stdin } : {}),
    ...(terminal ? { terminal } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(lifetime ? { lifetime } : {}),
    acknowledge: true,
  };
}

async function firstFrame(frames: AsyncGenerator<Frame, void, void>): Promise<ProcessStarted> {
  const { done, value } = await frames.next();
  if (!done && value.type === 'started') return value.process;
  await frames.return();
  if (!done && value.type === 'failed') throw new CommandNotStarted(value.failure);
  throw new Fault('unavailable', 'start a command: the connection was cut before the runtime answered');
}

/** A process that no longer reads is no failure; a source that fails is. */
async function feed(running: RunningCommand, source: InputSource): Promise<void> {
  await running.writeStdin(source);
  await running.closeStdin();
}

class Collected {
  readonly #chunks = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(stream: 'stdout' | 'stderr', data: Uint8Array): void {
    this.#bytes += data.length;
    if (this.#bytes > this.#maxBytes) {
      throw new Fault('too-large', `command wrote more than ${this.#maxBytes} bytes`);
    }
    this.#chunks[stream].push(data);
  }

  text(stream: 'stdout' | 'stderr'): string {
    const decoder = new TextDecoder();
    const parts = this.#chunks[stream].map((chunk) => decoder.decode(chunk, { stream: true }));
    return parts.join('') + decoder.decode();
  }
}
