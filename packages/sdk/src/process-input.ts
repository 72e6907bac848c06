/**
 * What we write to a process, each byte once and in order, over as many requests as it takes.
 *
 * Bytes gather while a request is on its way and go with the next, so many small writes are few requests.
 * The runtime answers when it has taken them: that is the back-pressure. A process need not read its input:
 * once it is over, or has closed its end, what is left is dropped and every promise resolves.
 */
import { processesPath, type StdinReceipt } from '@hutch/runtime-protocol';
import type { Connection } from './connection.ts';
import { Retry } from './retry.ts';

export interface ProcessInputDeps {
  readonly connection: Connection;
  readonly id: string;
  /** Aborted when the process is over. */
  readonly over: AbortSignal;
}

const requestBytes = 256 << 10;

export class ProcessInput {
  readonly #deps: ProcessInputDeps;
  readonly #retry = new Retry();
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #offset = 0;
  #shouldEnd = false;
  #isOver = false;
  /** The request on its way, and the loop that makes them. Neither rejects. */
  #batch: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  /** Everybody's: nothing can follow what was lost. */
  #failure: { readonly err: unknown } | undefined;

  constructor(deps: ProcessInputDeps) {
    this.#deps = deps;
  }

  /** Resolves when there is room for more. False when nothing more is taken. */
  async push(bytes: Uint8Array): Promise<boolean> {
    if (bytes.length > 0 && !this.#isOver) {
      this.#pending.push(bytes.slice()); // the caller may use its buffer again
      this.#pendingBytes += bytes.length;
      this.#start();
    }
    while (this.#pendingBytes >= requestBytes) await this.#batch;
    this.#throwIfFailed();
    return !this.#isOver;
  }

  /** Resolves when all that was pushed is taken. */
  async flush(): Promise<void> {
    await this.#running;
    this.#throwIfFailed();
  }

  async end(): Promise<void> {
    this.#shouldEnd = true;
    this.#start();
    await this.flush();
  }

  get #hasWork(): boolean {
    return !this.#isOver && (this.#pendingBytes > 0 || this.#shouldEnd);
  }

  #start(): void {
    if (this.#hasWork) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    while (this.#hasWork) {
      this.#batch = this.#sendBatch();
      await this.#batch;
    }
    this.#running = undefined;
  }

  async #sendBatch(): Promise<void> {
    const { connection, id, over } = this.#deps;
    const bytes = this.#takeBatch();
    const isLast = this.#shouldEnd && this.#pendingBytes === 0;
    const path = `${processesPath}/${id}/stdin?offset=${this.#offset}${isLast ? '&end=true' : ''}`;
    const doing = `write to process ${id}`;
    try {
      const receipt = await this.#retry.run(
        () => connection.json<StdinReceipt>({ doing, method: 'PUT', path, bytes, signal: over }),
        over,
      );
      this.#retry.succeeded();
      this.#offset += bytes.length;
      if (isLast || receipt.closed) this.#drop();
    } catch (err) {
      this.#drop();
      if (!over.aborted) this.#failure = { err };
    }
  }

  #takeBatch(): Uint8Array<ArrayBuffer> {
    const batch = new Uint8Array(Math.min(this.#pendingBytes, requestBytes));
    for (let at = 0; at < batch.length; ) {
      const head = this.#pending.shift() as Uint8Array;
      const part = head.subarray(0, batch.length - at);
      batch.set(part, at);
      at += part.length;
      if (part.length < head.length) this.#pending.unshift(head.subarray(part.length));
    }
    this.#pendingBytes -= batch.length;
    return batch;
  }

  #drop(): void {
    this.#isOver = true;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure.err;
  }
}
