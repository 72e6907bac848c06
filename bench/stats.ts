/** Percentiles by nearest rank, and tables of them. */
export interface Summary {
  readonly n: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export function summarise(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (fraction: number) => sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
  return { n: sorted.length, min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/** A Markdown table, so that what a run prints can be kept in docs/. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

export function row(name: string, samples: readonly number[]): string[] {
  const { n, min, p50, p90, p99, max } = summarise(samples);
  return [name, String(n), ...[min, p50, p90, p99, max].map((value) => value.toFixed(1))];
}

export const summaryHead = ['what (ms)', 'n', 'min', 'p50', 'p90', 'p99', 'max'] as const;
