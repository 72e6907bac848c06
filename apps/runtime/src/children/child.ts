import type { ProcessExited, ProcessFailed, TerminalSize } from '@hutch/runtime-protocol';

/** A program that is known to exist, and how to start it. */
export interface ChildSpec {
  /** Absolute path of the program; `argv[0]` may call it otherwise. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: boolean;
  readonly terminal?: TerminalSize | undefined;
}

/**
 * A started process, leader of its own session and process group.
 *
 * Guarantees: nothing is read from the process until the consumer asks for the next chunk, give or take one
 * chunk; so a consumer that stops asking blocks the process, and memory stays bounded.
 */
export interface Child {
  readonly pid: number;
  readonly stdout: AsyncIterable<Uint8Array>;
  /** Absent when a terminal carries both. */
  readonly stderr: AsyncIterable<Uint8Array> | undefined;
  readonly input: ChildInput | undefined;
  /** Settles when the process itself is gone; its descendants may still hold the outputs. Never rejects. */
  readonly exit: Promise<ProcessExited>;
  /** Absent without a terminal. */
  readonly resize: ((size: TerminalSize) => void) | undefined;
  /** Gives up what descendants still hold: the outputs end and the input closes. May be called again. */
  release(): void;
}

export interface ChildInput {
  /** Resolves when more may be written. Bytes for a process that no longer reads are dropped. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  readonly isClosed: boolean;
}

/** Why a process could not be started, in the words of the protocol. */
export class LaunchFailure extends Error {
  override readonly name = 'LaunchFailure';
  readonly reason: ProcessFailed['reason'];

  constructor(reason: ProcessFailed['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
