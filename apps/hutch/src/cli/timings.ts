/** What took how long, for `--timings`: stages end to end on one monotonic clock. */
export interface Stage {
  readonly name: string;
  readonly ms: number;
  /** A part of the stage before it, told apart and not counted again. */
  readonly isPart?: boolean;
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

  /** Tells parts of the last stage from the moments at which each was over, counted from the first of them. */
  parts(moments: Readonly<Record<string, number>>): void {
    let before = 0;
    for (const [name, ms] of Object.entries(moments)) {
      if (ms > before) this.#stages.push({ name, ms: ms - before, isPart: true });
      before = ms;
    }
  }

  get stages(): readonly Stage[] {
    return this.#stages;
  }

  get totalMs(): number {
    return this.#lastAt - this.#startedAt;
  }

  toString(): string {
    const all: readonly Stage[] = [...this.#stages, { name: 'total', ms: this.totalMs }];
    const rows = all.map(({ name, ms, isPart }) => ({ name: isPart ? `  ${name}` : name, ms }));
    const width = Math.max(...rows.map(({ name }) => name.length));
    return rows.map(({ name, ms }) => `${name.padEnd(width)}  ${ms.toFixed(1).padStart(8)} ms\n`).join('');
  }
}
