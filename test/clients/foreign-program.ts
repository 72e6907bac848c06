/** A program of other people's making, told what to do by its arguments, telling what it did in lines of JSON. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { dyingWithUs } from '../../rigs/kube/index.ts';

export type Line = Readonly<Record<string, string>>;

/** How much of what a program says besides its lines is kept for a failure's message. */
const keptBytes = 64 * 1024;

export class ForeignProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #lines: Line[] = [];
  readonly #waiting = new Set<() => void>();
  #aside = '';
  #isOver = false;

  constructor([program, ...args]: readonly [string, ...string[]]) {
    const [keeper, ...keeperArgs] = dyingWithUs as [string, ...string[]];
    const child = spawn(keeper, [...keeperArgs, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.stderr.on('data', (chunk: Buffer) => {
      this.#aside = (this.#aside + chunk.toString()).slice(-keptBytes);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#lines.push(JSON.parse(line) as Line);
      this.#wake();
    });
    this.#exited = once(child, 'close')
      .then(([code]: (number | null)[]) => code ?? null)
      .finally(() => {
        this.#isOver = true;
        this.#wake();
      });
    this.#exited.catch(() => {}); // a failure to start is heard by whoever waits
  }

  /** Every line so far. */
  get lines(): readonly Line[] {
    return this.#lines;
  }

  /** Resolves when the lines satisfy the condition; rejects when the program ends before, or the signal aborts. */
  async until(what: string, holds: (lines: readonly Line[]) => boolean, signal: AbortSignal): Promise<void> {
    while (!holds(this.#lines)) {
      if (this.#isOver) throw new Error(`the program ended before ${what}: ${this.#account()}`);
      if (signal.aborted) throw new Error(`waited in vain until ${what}: ${this.#account()}`);
      await this.#nextChange(signal);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Its exit status, null after a signal. */
  async ended(): Promise<number | null> {
    return await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async #nextChange(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAbort = () => resolve();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #account(): string {
    const lines = this.#lines.slice(-20).map((line) => JSON.stringify(line));
    return [...lines, this.#aside].join('\n');
  }
}

/** Runs a program that takes steps, and makes a test of each. */
export async function walk(t: TestContext, command: readonly [string, ...string[]]): Promise<void> {
  await using program = new ForeignProgram(command);
  const status = await program.ended();
  for (const { step = '', error } of program.lines) {
    await t.test(step, () => {
      if (error !== undefined) throw new Error(error);
    });
  }
  await program.until('it told that it is done', () => status === 0, t.signal);
}
