/**
 * One process and the recent past of its output.
 *
 * Flow: output is pumped from the pipes into the windows as long as these have room; whoever is attached reads
 * from the windows. At most one reader is attached, the newest: an older connection may be dead without our
 * knowing. When nobody is attached the windows keep what they hold, fill up, and the process blocks.
 *
 * Guarantees: memory is bounded by the windows and a chunk each. The outcome appears once the process is gone
 * and everything it wrote has been taken in.
 */
import { Fault, pause } from '@hutch/base';
import type {
  OutputRead,
  ProcessExited,
  ProcessFailed,
  StdinReceipt,
  TerminalSize,
} from '@hutch/runtime-protocol';
import { Bell } from '../bell.ts';
import type { Child } from '../children/child.ts';
import { signalGroup, trySignalGroup } from '../children/signals.ts';
import { OutputWindow } from './output-window.ts';

export type StreamName = 'stdout' | 'stderr';

export type Outcome =
  | { readonly type: 'exited'; readonly exit: ProcessExited }
  | { readonly type: 'failed'; readonly failure: ProcessFailed };

export interface ProcessSettings {
  readonly windowBytes: number;
  /** How long a process is kept whose caller went away. */
  readonly graceMs: number;
  readonly lifetime: 'attached' | 'detached';
  readonly acknowledge: boolean;
  readonly timeoutMs?: number | undefined;
}

/** After the process is gone: how long a pipe that a descendant holds must be silent to count as read. */
const quietMs = 100;
/** What a process wrote before it went is at most what a pipe holds; the kernel's limit for that. */
const largestPipeBytes = 1 << 20;

interface OutputStream {
  readonly window: OutputWindow;
  isOver: boolean;
  isWaitingForRoom: boolean;
}

export class ManagedProcess {
  readonly id: string;
  readonly pid: number;
  /** Rings when there is something new for the reader. */
  readonly changed = new Bell();
  /** Settles when the outcome is known. Never rejects. */
  readonly ended: Promise<void>;

  readonly #child: Child;
  readonly #settings: ProcessSettings;
  readonly #streams: Readonly<Record<StreamName, OutputStream>>;
  readonly #room = new Bell();
  readonly #gone = new AbortController();
  #reader: AbortController | undefined;
  #unattendedSince: number | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #stdinBytes = 0;
  #isTimedOut = false;
  #isReleased = false;
  #isOutputLost = false;
  #outcome: Outcome | undefined;

  constructor(id: string, child: Child, settings: ProcessSettings) {
    this.id = id;
    this.pid = child.pid;
    this.#child = child;
    this.#settings = settings;
    this.#streams = { stdout: newStream(settings.windowBytes), stderr: newStream(settings.windowBytes) };
    this.ended = this.#run();
    this.#startGrace();
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  get heldBytes(): number {
    return this.#streams.stdout.window.heldBytes + this.#streams.stderr.window.heldBytes;
  }

  /**
   * Makes the caller the reader from these offsets on, and tells the one before to stop. The signal aborts
   * when a later reader takes over. Call `detach` with it in any case.
   */
  attach(from: OutputRead): AbortSignal {
    for (const name of ['stdout', 'stderr'] as const) {
      const { start, end } = this.#streams[name].window;
      if (from[name] > end)
        throw new Fault('invalid', `read ${name} of ${this.id} at ${from[name]} of ${end}`);
      if (from[name] < start) throw new Fault('expired', `${name} of ${this.id} before ${start} is gone`);
    }
    this.#reader?.abort(new Fault('conflict', `another reader took over the output of ${this.id}`));
    this.#reader = new AbortController();
    this.#unattendedSince = undefined;
    clearTimeout(this.#graceTimer);
    this.#setFloors(from);
    return this.#reader.signal;
  }

  detach(reader: AbortSignal): void {
    if (this.#reader?.signal !== reader) return; // somebody else is attached by now
    this.#reader = undefined;
    // What was sent last may be lost with the connection: keep all there is for the one who comes back.
    if (!this.#settings.acknowledge) for (const { window } of Object.values(this.#streams)) window.hold();
    this.#startGrace();
  }

  read(name: StreamName, offset: number, maxBytes: number): Uint8Array {
    return this.#streams[name].window.read(offset, maxBytes);
  }

  /** The reader was sent everything below. */
  delivered(name: StreamName, offset: number): void {
    if (this.#settings.acknowledge) return;
    this.#streams[name].window.setFloor(offset);
    this.#room.ring();
  }

  /** The reader has everything below, safely. */
  acknowledge(read: OutputRead): void {
    if (!this.#settings.acknowledge) {
      throw new Fault('conflict', `process ${this.id} was not started with acknowledgement`);
    }
    this.#setFloors(read);
  }

  /**
   * Takes bytes of stdin that begin at `offset`. Those that came before are skipped, so a caller that is not
   * sure may send again; bytes may not be left out. Resolves when more may be sent.
   */
  async takeStdin(offset: number, bytes: Uint8Array): Promise<void> {
    const { input } = this.#child;
    if (!input) throw new Fault('conflict', `process ${this.id} was started without stdin`);
    if (offset > this.#stdinBytes) {
      throw new Fault(
        'conflict',
        `stdin of ${this.id} was received up to ${this.#stdinBytes}, not ${offset}`,
      );
    }
    const fresh = bytes.subarray(this.#stdinBytes - offset);
    if (fresh.length === 0) return;
    this.#stdinBytes += fresh.length;
    await input.write(fresh);
  }

  endStdin(): void {
    this.#child.input?.end();
  }

  get stdinReceipt(): StdinReceipt {
    const closed = this.#child.input?.isClosed ?? true;
    return { received: this.#stdinBytes, ...(closed ? { closed } : {}) };
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#outcome || !signalGroup(this.pid, signal)) {
      throw new Fault('conflict', `process ${this.id} is no longer running`);
    }
  }

  /** As `signal`, for callers who do not mind when it is too late. */
  signalIfRunning(signal: NodeJS.Signals): void {
    if (!this.#outcome) trySignalGroup(this.pid, signal);
  }

  resize(size: TerminalSize): void {
    if (!this.#child.resize) throw new Fault('conflict', `process ${this.id} has no terminal`);
    if (!this.#outcome) this.#child.resize(size);
  }

  async #run(): Promise<void> {
    const { stdout, stderr } = this.#streams;
    const pumps = Promise.all([
      this.#pump(stdout, this.#child.stdout),
      this.#pump(stderr, this.#child.stderr),
    ]);
    void this.#watchTimeout();
    const exit = await this.#child.exit;
    this.#gone.abort();
    await this.#drain(pumps);
    this.#isReleased = true;
    this.#child.release();
    this.#room.ring();
    await pumps;
    clearTimeout(this.#graceTimer);
    this.#outcome = this.#isOutputLost
      ? {
          type: 'failed',
          failure: { reason: 'output-lost', message: `output of ${this.id} was not read in time` },
        }
      : { type: 'exited', exit: this.#isTimedOut ? { ...exit, timedOut: true } : exit };
    this.changed.ring();
  }

  async #pump(stream: OutputStream, source: AsyncIterable<Uint8Array> | undefined): Promise<void> {
    try {
      for await (const bytes of source ?? []) {
        stream.window.append(bytes);
        this.changed.ring();
        while (stream.window.isFull && !this.#isReleased) {
          stream.isWaitingForRoom = true;
          await this.#room.next;
        }
        stream.isWaitingForRoom = false;
        if (this.#isReleased) break;
      }
    } catch {
      this.#isOutputLost = true; // reading failed: say so rather than pretend that this was all
    }
    stream.isOver = true;
  }

  /**
   * Waits until all that the process wrote is in the windows. The pipes usually end with the process; when a
   * descendant holds them open, they count as read after a silence, or after as much as a pipe can hold.
   */
  async #drain(pumps: Promise<unknown>): Promise<void> {
    const streams = Object.values(this.#streams);
    const ends = streams.map(({ window }) => window.end);
    for (;;) {
      const before = streams.map(({ window }) => window.end);
      const tick = new AbortController();
      await Promise.race([pumps, pause(quietMs, tick.signal).catch(() => {})]);
      tick.abort();
      const isRead = (stream: OutputStream, at: number): boolean => {
        if (stream.isOver || stream.window.end - (ends[at] ?? 0) >= largestPipeBytes) return true;
        return !stream.isWaitingForRoom && stream.window.end === before[at];
      };
      if (streams.every(isRead)) return;
      if (this.#isAbandoned) {
        this.#isOutputLost = true;
        return;
      }
    }
  }

  /** Nobody came back for what is left: not even a detached process may hold its output for ever. */
  get #isAbandoned(): boolean {
    const since = this.#unattendedSince;
    return since !== undefined && performance.now() - since > this.#settings.graceMs;
  }

  async #watchTimeout(): Promise<void> {
    const { timeoutMs } = this.#settings;
    if (timeoutMs === undefined) return;
    try {
      await pause(timeoutMs, this.#gone.signal);
    } catch {
      return; // gone by itself
    }
    this.#isTimedOut = true;
    this.signalIfRunning('SIGKILL');
  }

  #startGrace(): void {
    this.#unattendedSince = performance.now();
    if (this.#settings.lifetime === 'detached' || this.#outcome) return;
    this.#graceTimer = setTimeout(() => this.signalIfRunning('SIGKILL'), this.#settings.graceMs);
  }

  #setFloors(offsets: OutputRead): void {
    this.#streams.stdout.window.setFloor(offsets.stdout);
    this.#streams.stderr.window.setFloor(offsets.stderr);
    this.#room.ring();
  }
}

function newStream(windowBytes: number): OutputStream {
  return { window: new OutputWindow(windowBytes), isOver: false, isWaitingForRoom: false };
}
