import { Fault } from './fault.ts';

/**
 * A bounded hand-over from code that pushes to one async iterator that pulls.
 *
 * Guarantees: values come out in the order they went in; nothing is dropped silently. When the reader
 * falls more than `capacity` values behind, `push` returns false and the iterator ends with a
 * `queue-full` fault after what was already queued.
 * On return or throw of the iterator: `onClose` is called once.
 */
export class Channel<T> implements AsyncIterable<T> {
  readonly #queue: T[] = [];
  readonly #capacity: number;
  readonly #onClose: () => void;
  #wake: (() => void) | undefined;
  #ended: { error?: unknown } | undefined;
  #closed = false;

  constructor(capacity: number, onClose: () => void = () => {}) {
    this.#capacity = capacity;
    this.#onClose = onClose;
  }

  /** False when the value was refused: the channel is over, or the reader too slow. */
  push(value: T): boolean {
    if (this.#ended || this.#closed) return false;
    if (this.#queue.length >= this.#capacity) {
      this.fail(new Fault('queue-full', `reader is ${this.#capacity} values behind`));
      return false;
    }
    this.#queue.push(value);
    this.#wake?.();
    return true;
  }

  /** Ends the iterator after what is queued. */
  end(): void {
    this.#ended ??= {};
    this.#wake?.();
  }

  /** Ends the iterator with an error after what is queued. */
  fail(error: unknown): void {
    this.#ended ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    try {
      for (;;) {
        while (this.#queue.length > 0) yield this.#queue.shift() as T;
        if (this.#ended) {
          if ('error' in this.#ended) throw this.#ended.error;
          return;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#closed = true;
      this.#queue.length = 0;
      this.#onClose();
    }
  }
}
