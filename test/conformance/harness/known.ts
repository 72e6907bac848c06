/** Differences that are accepted for a reason. Each must still be there: one that has gone is taken off the list. */
import type { Case } from './case.ts';
import type { Difference } from './difference.ts';
import { fixtureKey } from './fixtures.ts';

export interface KnownDifference {
  /** `area: name of the case`. A `*` stands for anything, here and in `place`. */
  readonly case: string;
  /** Where in the answer; anywhere when left out. */
  readonly place?: string;
  /** Only there; on every door when left out. */
  readonly target?: string;
  readonly reason: string;
}

export interface Judgement {
  readonly unexplained: readonly Difference[];
  readonly used: readonly KnownDifference[];
}

export interface Judged {
  readonly testCase: Pick<Case, 'area' | 'name'>;
  /** The name of the target that differs from the real server. */
  readonly target: string;
  readonly differences: readonly Difference[];
}

export function judge(
  { testCase, target, differences }: Judged,
  known: readonly KnownDifference[],
): Judgement {
  const key = fixtureKey(testCase);
  const applicable = known.filter((one) => matches(one.case, key) && (one.target ?? target) === target);
  const used = new Set<KnownDifference>();
  const unexplained = differences.filter(({ place }) => {
    const reason = applicable.find((one) => matches(one.place ?? '*', place));
    if (reason) used.add(reason);
    return !reason;
  });
  return { unexplained, used: [...used] };
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
