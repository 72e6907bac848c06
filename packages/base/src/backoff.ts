/** Doubling delays with a cap. `reset` starts again from the first. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  nextMs(): number {
    return Math.min(this.#firstMs * 2 ** this.#failures++, this.#maxMs);
  }

  reset(): void {
    this.#failures = 0;
  }
}
