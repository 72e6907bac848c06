import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ChildResult, runChild } from '../child.ts';
import type { Outcome } from './outcome.ts';
import type { Report } from './report.ts';

export interface RunOptions {
  readonly root: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How much of a failing process's own output is worth reading. */
const shownOutputLines = 60;

/**
 * Runs test files in one process of their own and tells what became of each test.
 *
 * A process that crashes, hangs or fails without a failing test is itself a failed outcome, so a run can not
 * be green because its tests were never reached. On abort the process group is ended and the reason thrown.
 */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Outcome[]> {
  const { root, timeoutMs, signal } = options;
  const reports: Report[] = [];
  const command = [
    process.execPath,
    '--test',
    '--test-isolation=none',
    `--test-reporter=${join(import.meta.dirname, 'reporter.ts')}`,
    ...files,
  ];
  const result = await runChild(command, {
    cwd: root,
    env: testEnvironment(root),
    timeoutMs,
    signal,
    onReport: (stream) =>
      createInterface({ input: stream }).on('line', (line) => reports.push(...reportIn(line))),
  });
  return outcomesOf(reports, result, {
    place: files.length === 1 ? (files[0] as string) : 'unit',
    timeoutMs,
  });
}

/** A line cut short by a crash is no report; the missing end of the run tells of it. */
function reportIn(line: string): Report[] {
  try {
    return [JSON.parse(line) as Report];
  } catch {
    return [];
  }
}

function testEnvironment(root: string): NodeJS.ProcessEnv {
  const bin = join(root, 'node_modules/.bin');
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env; // set when the runner itself is under test
  return {
    ...inherited,
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/test'),
    PATH: `${bin}:${process.env.PATH ?? ''}`, // the pinned Node, also for what the tests start
  };
}

/** Joins what the tests said with how their process ended. */
export function outcomesOf(
  reports: readonly Report[],
  { code, timedOut, output }: ChildResult,
  { place, timeoutMs }: { place: string; timeoutMs: number },
): Outcome[] {
  const outcomes = reports.flatMap((report) => (report.type === 'outcome' ? [report.outcome] : []));
  const isFinished = reports.some(({ type }) => type === 'finished');
  const printed = lastLines(output);
  const fail = (detail: string) =>
    outcomes.push({ result: 'failed', name: 'its process', place, detail: detail + printed });

  if (timedOut && isFinished) fail(`did not end within ${timeoutMs / 1000} s: a test left something open`);
  else if (timedOut) fail(`did not end within ${timeoutMs / 1000} s${stillRunning(reports)}`);
  else if (!isFinished) fail(`ended with status ${code} before its tests did${stillRunning(reports)}`);
  else if (code !== 0 && !outcomes.some(({ result }) => result === 'failed'))
    fail(`ended with status ${code}`);
  else if (outcomes.length === 0) fail('has no tests');
  else if (code !== 0 && printed !== '') {
    const last = outcomes.findLastIndex(({ result }) => result === 'failed');
    const failed = outcomes[last] as Outcome & { result: 'failed' };
    outcomes[last] = { ...failed, detail: failed.detail + printed };
  }
  return outcomes;
}

function stillRunning(reports: readonly Report[]): string {
  const ended = new Set(reports.flatMap((report) => (report.type === 'ended' ? [report.id] : [])));
  const open = reports.flatMap((report) =>
    report.type === 'started' && !ended.has(report.id) ? [`${report.place} ${report.name}`] : [],
  );
  return open.length === 0 ? '' : `; still running: ${open.slice(-5).join(', ')}`;
}

function lastLines(output: string): string {
  const lines = output.trimEnd().split('\n');
  if (lines.join('') === '') return '';
  const omitted = lines.length > shownOutputLines ? ` (last ${shownOutputLines} lines)` : '';
  return `\noutput${omitted}:\n${lines.slice(-shownOutputLines).join('\n')}`;
}
