/** Ctrl-C and its relatives, as values a command can wait for. */
export type InterruptSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const signals: readonly InterruptSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The reason of the abort that a signal causes. */
export class Interrupted extends Error {
  override readonly name = 'AbortError';
  readonly interruptedBy: InterruptSignal;
  constructor(signal: InterruptSignal) {
    super(`interrupted by ${signal}`);
    this.interruptedBy = signal;
  }
}

/**
 * Listens for the signals that ask a command to end.
 *
 * `take` sets who is told; while nobody has taken them, `signal` aborts with `Interrupted`.
 */
export class Interrupts implements Disposable {
  readonly #controller = new AbortController();
  readonly #handlers = new Map<InterruptSignal, () => void>();
  #taker: ((signal: InterruptSignal) => void) | undefined;

  constructor() {
    for (const name of signals) {
      const handler = () => {
        if (this.#taker) this.#taker(name);
        else this.#controller.abort(new Interrupted(name));
      };
      this.#handlers.set(name, handler);
      process.on(name, handler);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on `taker` decides. Undefined gives the signals back. */
  take(taker: ((signal: InterruptSignal) => void) | undefined): void {
    this.#taker = taker;
  }

  [Symbol.dispose](): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }
}
