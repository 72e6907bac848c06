/**
 * What the real server answered when it was last asked, one file for each area, one line for each step. Recorded by
 * `node test/conformance/main.ts --record`, never written by hand.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './case.ts';
import type { Outcome } from './run.ts';
import type { Step, Transcript } from './transcript.ts';

const folder = join(import.meta.dirname, '..', 'fixtures');
const suffix = '.jsonl';

export function fixtureKey({ area, name }: Pick<Case, 'area' | 'name'>): string {
  return `${area}: ${name}`;
}

export function readFixtures(): ReadonlyMap<string, Transcript> {
  const found = new Map<string, Step[]>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith(suffix))) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue;
      const [name, step] = JSON.parse(line) as [string, Step | null];
      const key = fixtureKey({ area: file.slice(0, -suffix.length), name });
      const steps = found.get(key) ?? [];
      if (step) steps.push(step);
      found.set(key, steps);
    }
  }
  return found;
}

/** Replaces what was recorded of these cases. `all` are the cases there are: of others nothing is kept. */
export function writeFixtures(outcomes: ReadonlyMap<Case, Outcome>, all: readonly Case[]): void {
  mkdirSync(folder, { recursive: true });
  const kept = readFixtures();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  for (const [area, cases] of Map.groupBy(all, (one) => one.area)) {
    const lines = cases.flatMap((one) => {
      const steps = outcomes.get(one)?.transcript ?? kept.get(fixtureKey(one)) ?? [];
      return (steps.length > 0 ? steps : [null]).map((step) => JSON.stringify([one.name, step]));
    });
    writeFileSync(join(folder, `${area}${suffix}`), `${lines.join('\n')}\n`);
  }
}
