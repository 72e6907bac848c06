/** What the cases saw on the real cluster when they were last recorded, for machines that cannot run one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Recorded = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const file = join(import.meta.dirname, 'recorded.json');

export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded;
}

export function writeRecorded(recorded: Recorded): void {
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
}
