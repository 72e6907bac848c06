/** What took how long, for `--timings`: stages end to end on one monotonic clock. */
export interface Stage {
  readonly name: string;
  readonly ms: number;
}

export class Timings {
  readonly #startedAt: number;
  readonly #stages: Stage[] = [];
  #lastAt: number;

  /** Counts from the start of the process, so that loading the program is a stage too. */
  constructor(startedAt = 0) {
    this.#startedAt = startedAt;
    this.#lastAt = startedAt;
  }

  /** Everything since the last mark was this stage. */
  mark(name: string): void {
    const now = performance.now();
    this.#stages.push({ name, ms: now - this.#lastAt });
    this.#lastAt = now;
  }

  get stages(): readonly Stage[] {
    return this.#stages;
  }

  get totalMs(): number {
    return this.#lastAt - this.#startedAt;
  }

  toString(): string {
    const rows = [...this.#stages, { name: 'total', ms: this.totalMs }];
    const width = Math.max(...rows.map(({ name }) => name.length));
    return rows.map(({ name, ms }) => `${name.padEnd(width)}  ${ms.toFixed(1).padStart(8)} ms\n`).join('');
  }
}
