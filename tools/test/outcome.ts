/** What became of one test. */
export type Outcome = { readonly name: string; readonly place: string } & (
  | { readonly result: 'passed' }
  | { readonly result: 'skipped'; readonly reason: string }
  | { readonly result: 'failed'; readonly detail: string }
);

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function tally(outcomes: readonly Outcome[]): Tally {
  const count = (result: Outcome['result']) => outcomes.filter((outcome) => outcome.result === result).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** The end of a run: every skip with its reason, every failure with its place, and last the one line to look for. */
export function summary(outcomes: readonly Outcome[]): string {
  const lines: string[] = [];
  for (const outcome of outcomes) {
    if (outcome.result === 'skipped')
      lines.push(`skipped ${outcome.place} ${outcome.name}: ${outcome.reason}`);
  }
  for (const outcome of outcomes) {
    if (outcome.result === 'failed')
      lines.push(`FAILED ${outcome.place} ${outcome.name}`, indented(outcome.detail));
  }
  return [...lines, tallyLine(tally(outcomes))].join('\n');
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
    .join('\n');
}
