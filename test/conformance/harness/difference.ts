/** Where two transcripts part, told as places and the two values found there. */
import { isRecord } from './json.ts';
import type { Transcript } from './transcript.ts';

export interface Difference {
  /** Number of the step from 0, then what was asked, then the place in the answer. */
  readonly step: number;
  readonly request: string;
  readonly place: string;
  readonly ours: unknown;
  readonly real: unknown;
}

/** Nothing stands for an absent value, so that it can be told from null. */
const absent = Symbol('absent');

export function differencesOf(ours: Transcript, real: Transcript): Difference[] {
  const found: Difference[] = [];
  for (let step = 0; step < Math.max(ours.length, real.length); step++) {
    const [mine, theirs] = [ours[step], real[step]];
    const request = theirs?.step ?? mine?.step ?? '';
    compare(mine ?? absent, theirs ?? absent, '', (place, a, b) => {
      found.push({ step, request, place, ours: a, real: b });
    });
  }
  return found;
}

type Tell = (place: string, ours: unknown, real: unknown) => void;

function compare(ours: unknown, real: unknown, place: string, tell: Tell): void {
  if (Array.isArray(ours) && Array.isArray(real)) {
    for (let index = 0; index < Math.max(ours.length, real.length); index++) {
      compare(element(ours, index), element(real, index), `${place}[${index}]`, tell);
    }
  } else if (isRecord(ours) && isRecord(real)) {
    for (const key of [...new Set([...Object.keys(ours), ...Object.keys(real)])].sort()) {
      compare(member(ours, key), member(real, key), place === '' ? key : `${place}.${key}`, tell);
    }
  } else if (!Object.is(ours, real)) {
    tell(place, ours, real);
  }
}

const element = (list: readonly unknown[], index: number) => (index < list.length ? list[index] : absent);
const member = (record: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(record, key) ? record[key] : absent;

const shownLength = 300;

function shown(value: unknown): string {
  const text = value === absent ? '(absent)' : JSON.stringify(value);
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}

/** A compact text: each step once, below it what differs. Where the verdicts differ, the bodies need no comparing. */
export function describeDifferences(differences: readonly Difference[], limit = 12): string {
  const lines: string[] = [];
  for (const [step, all] of Map.groupBy(differences, (difference) => difference.step)) {
    if (lines.length > limit * 3) {
      lines.push('     and more');
      break;
    }
    lines.push(`  ${step + 1}. ${all[0]?.request}`);
    const isOtherVerdict = all.some(({ place }) => place === 'status');
    const telling = ({ place }: Difference) =>
      !isOtherVerdict || ['status', 'body.message', 'body.kind'].includes(place);
    const told = all.filter(telling);
    for (const { place, ours, real } of told.slice(0, limit)) {
      lines.push(
        `     ${place === '' ? 'the step' : place}`,
        `       ours ${shown(ours)}`,
        `       real ${shown(real)}`,
      );
    }
    if (told.length > limit) lines.push(`     and ${told.length - limit} more`);
  }
  return lines.join('\n');
}
