/** A process in a sandbox, while it runs. */
import { Fault } from '@hutch/base';
import {
  type Frame,
  type ProcessExited,
  processesPath,
  type SendSignal,
  type TerminalSize,
} from '@hutch/runtime-protocol';
import type { Connection } from './connection.ts';
import { ProcessInput } from './process-input.ts';
import { type OutputChunk, readOutput } from './process-output.ts';

/** Bytes or text leave stdin open; a stream that ends closes it. */
export type InputSource = Uint8Array | string | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

export interface RunningCommandDeps {
  readonly connection: Connection;
  readonly id: string;
  readonly pid: number;
  readonly frames: AsyncIterable<Frame>;
  readonly signal: AbortSignal | undefined;
  /** Ours, to end the requests that are open. */
  readonly own: AbortController;
}

/** How long killing may take before we leave it to the runtime, which kills what nobody is attached to. */
const killMs = 2_000;

export class RunningCommand implements AsyncDisposable {
  readonly id: string;
  readonly pid: number;
  /**
   * What the process writes, as it comes. For one reader; a reader that stops pulling stops the process.
   * Ends when the process has exited and all was read.
   */
  readonly output: AsyncIterable<OutputChunk>;
  readonly #connection: Connection;
  readonly #own: AbortController;
  readonly #over = new AbortController();
  readonly #chunks: AsyncGenerator<OutputChunk, ProcessExited, void>;
  readonly #exit = Promise.withResolvers<ProcessExited>();
  readonly #input: ProcessInput;
  readonly #stopListening: () => void;
  #killing: Promise<void> | undefined;
  #readers = 0;
  #waiters = 0;

  constructor({ connection, id, pid, frames, signal, own }: RunningCommandDeps) {
    this.id = id;
    this.pid = pid;
    this.#connection = connection;
    this.#own = own;
    const shared = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
    this.#chunks = readOutput({ connection, id, first: frames, signal: shared });
    this.#input = new ProcessInput({ connection, id, over: this.#over.signal });
    this.#exit.promise.catch(() => {}); // told to whoever reads or waits
    this.output = { [Symbol.asyncIterator]: () => this.#reader() };
    const onAbort = () => {
      this.#killing ??= this.#kill();
      this.#settle(() => this.#exit.reject(signal?.reason));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#stopListening = () => signal?.removeEventListener('abort', onAbort);
  }

  /**
   * Resolves when the process has taken the bytes, or takes no more: a process need not read its input. A
   * stream is read as fast as the process takes it, and its end closes stdin.
   */
  async writeStdin(source: InputSource): Promise<void> {
    if (typeof source === 'string') return await this.writeStdin(new TextEncoder().encode(source));
    if (source instanceof Uint8Array) {
      await this.#input.push(source);
      return await this.#input.flush();
    }
    const iterator = iteratorOf(source);
    try {
      for (;;) {
        const step = await this.#unlessOver(iterator.next());
        if (!step || step.done || !(await this.#input.push(step.value))) break;
      }
    } finally {
      // Not awaited: a source that waits for a key press answers when one comes.
      void Promise.resolve(iterator.return?.()).catch(() => {});
    }
    await this.#input.end();
  }

  /** The process sees the end of its input after what was written before. */
  async closeStdin(): Promise<void> {
    await this.#input.end();
  }

  /** Delivered to the whole process group. Rejects with `conflict` when it no longer runs. */
  async signal(signal: string): Promise<void> {
    await this.#post('signal', { signal } satisfies SendSignal, this.#own.signal);
  }

  /** The new size of its terminal. */
  async resize(size: TerminalSize): Promise<void> {
    await this.#post('resize', size, this.#own.signal);
  }

  /** How the process exited. Output that nobody reads is read and dropped meanwhile. */
  async wait(): Promise<ProcessExited> {
    this.#waiters++;
    this.#drainIfUnread();
    return await this.#exit.promise;
  }

  /** Kills the process if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over.signal.aborted) this.#killing ??= this.#kill();
    await this.#killing;
    this.#settle(() => this.#exit.reject(new Fault('unavailable', `process ${this.id} was let go`)));
    this.#own.abort(new Fault('unavailable', `process ${this.id} was let go`));
  }

  /** Leaving the loop early does not end the process: whoever waits for it still can. */
  #reader(): AsyncIterator<OutputChunk, undefined> {
    this.#readers++;
    let isReading = true;
    const stop = () => {
      if (isReading) this.#readers--;
      isReading = false;
    };
    return {
      next: async () => {
        const step = await this.#next();
        if (step.done) stop();
        return step;
      },
      return: async () => {
        stop();
        this.#drainIfUnread();
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<OutputChunk, undefined>> {
    try {
      const step = await this.#chunks.next();
      if (!step.done) return step;
      // After the end a generator has no value any more; the first one counted.
      if (step.value) this.#settle(() => this.#exit.resolve(step.value));
      return { done: true, value: undefined };
    } catch (err) {
      this.#settle(() => this.#exit.reject(err));
      throw err;
    }
  }

  #drainIfUnread(): void {
    if (this.#readers > 0 || this.#waiters === 0 || this.#over.signal.aborted) return;
    const drain = async () => {
      while (this.#readers === 0 && !(await this.#next()).done);
    };
    drain().catch(() => {}); // the exit promise has it
  }

  #settle(outcome: () => void): void {
    outcome();
    this.#stopListening();
    this.#over.abort();
  }

  /** Never rejects: a process that is gone, or out of reach, is left to the runtime. */
  async #kill(): Promise<void> {
    try {
      await this.#post('signal', { signal: 'SIGKILL' } satisfies SendSignal, AbortSignal.timeout(killMs));
    } catch {
      return;
    }
  }

  async #post(action: 'signal' | 'resize', json: unknown, signal: AbortSignal): Promise<void> {
    const doing = `${action} process ${this.id}`;
    await this.#connection.json({
      doing,
      method: 'POST',
      path: `${processesPath}/${this.id}/${action}`,
      json,
      signal,
    });
  }

  async #unlessOver<T>(work: Promise<T>): Promise<T | undefined> {
    const { signal } = this.#over;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const onOver = () => resolve(undefined);
    signal.addEventListener('abort', onOver, { once: true });
    if (signal.aborted) onOver();
    try {
      return await Promise.race([work, promise]);
    } finally {
      signal.removeEventListener('abort', onOver);
    }
  }
}

function iteratorOf(
  source: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): AsyncIterator<Uint8Array> {
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
  const reader = (source as ReadableStream<Uint8Array>).getReader(); // not every engine can iterate one
  return {
    next: async () => (await reader.read()) as IteratorResult<Uint8Array>,
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}
