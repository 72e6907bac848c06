/**
 * How a caller starts a process in a sandbox and speaks with it, over plain HTTP on the runtime's port.
 *
 *   POST /hutch/v1/processes                      StartProcess → a stream of frames, the first is `started`
 *   GET  /hutch/v1/processes/{id}/output?stdout=N&stderr=N   → frames from those offsets on: re-attach
 *   PUT  /hutch/v1/processes/{id}/stdin?offset=N[&end=true]  bytes → StdinReceipt; `end` closes stdin after them
 *   POST /hutch/v1/processes/{id}/signal          SendSignal
 *   POST /hutch/v1/processes/{id}/resize          TerminalSize
 *   POST /hutch/v1/processes/{id}/acknowledge     OutputRead; only for processes started with `acknowledge`
 *
 * Offsets count bytes of one stream from its beginning, so a cut connection is resumed without losing or
 * repeating a byte, in either direction. Nothing needs an upgrade: any HTTP proxy can carry it, and
 * back-pressure is that of the connection.
 */
export const processesPath = '/hutch/v1/processes';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface StartProcess {
  /** The program and its arguments. Never a shell string; callers who want a shell name one. */
  readonly command: readonly string[];
  /** Added to the runtime's own environment; same names win over it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The runtime's working directory when absent. */
  readonly cwd?: string;
  /** Without it stdin is empty. */
  readonly stdin?: boolean;
  /** Gives the process a terminal; everything it writes then arrives as stdout. */
  readonly terminal?: TerminalSize;
  /** After this the whole process group is killed and `exited` says `timedOut`. */
  readonly timeoutMs?: number;
  /**
   * `attached` (the default): the process group is killed when nobody has been attached for
   * `detachedGraceMs`. `detached`: it lives until it exits.
   */
  readonly lifetime?: 'attached' | 'detached';
  /**
   * The caller tells with OutputRead how far it has read, and the runtime keeps every byte above that, so
   * a cut can never lose what was still on its way. Without it the runtime keeps the last few MiB it sent.
   */
  readonly acknowledge?: boolean;
}

/** How long an attached process waits for its caller to come back. */
export const detachedGraceMs = 30_000;

export interface ProcessStarted {
  readonly id: string;
  readonly pid: number;
}

/** Exactly one of exitCode and signal is set. */
export interface ProcessExited {
  readonly exitCode?: number;
  /** A signal's name, such as SIGKILL. */
  readonly signal?: string;
  readonly timedOut?: boolean;
}

/** The process could not be started, or its output is gone. */
export interface ProcessFailed {
  readonly reason: 'not-found' | 'not-executable' | 'bad-directory' | 'output-lost' | 'internal';
  readonly message: string;
}

export interface SendSignal {
  /** Delivered to the whole process group. */
  readonly signal: string;
}

/** How many bytes of stdin have been taken in all: where to go on after a cut. */
export interface StdinReceipt {
  readonly received: number;
  /** The process no longer reads: these bytes were dropped, and so will be all that follow. */
  readonly closed?: boolean;
}

/** Offsets up to which the caller has the output safely. */
export interface OutputRead {
  readonly stdout: number;
  readonly stderr: number;
}

/** Every JSON error answer of our own paths. */
export interface RuntimeError {
  readonly code: string;
  readonly message: string;
}
