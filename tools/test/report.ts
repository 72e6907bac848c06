// What a test process tells the runner: one JSON value a line on file descriptor 3. The tests' own output
// stays on stdout and stderr, so nothing a test prints can be taken for a result.
import { relative, resolve } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import type { Outcome } from './outcome.ts';

export type Report =
  | { readonly type: 'started'; readonly id: number; readonly name: string; readonly place: string }
  | { readonly type: 'ended'; readonly id: number }
  | { readonly type: 'outcome'; readonly outcome: Outcome }
  /** All tests are done. A process that ends without saying so died before its time. */
  | { readonly type: 'finished' };

/** What the runner needs of an event of `node:test`; most events say nothing new. */
export function reportOf(event: TestEvent, root: string): Report | undefined {
  if (event.type === 'test:dequeue' && event.data.type === 'test') {
    const { testId, name } = event.data;
    return { type: 'started', id: testId, name, place: placeOf(event.data, root) };
  }
  if (event.type === 'test:complete') return { type: 'ended', id: event.data.testId };
  if (event.type === 'test:pass' || event.type === 'test:fail') {
    const outcome = outcomeOf(event, root);
    return outcome && { type: 'outcome', outcome };
  }
  if (event.type === 'test:summary') return { type: 'finished' };
  return undefined;
}

function outcomeOf(
  event: TestEvent & { type: 'test:pass' | 'test:fail' },
  root: string,
): Outcome | undefined {
  const { name, file, skip, todo, details } = event.data;
  // A suite shared by several files has one place: the names around the test say for whom it ran.
  const around =
    'classname' in details && typeof details.classname === 'string' ? `${details.classname}: ` : '';
  const what = { name: around + name, place: placeOf(event.data, root) };
  if (todo !== undefined && todo !== false)
    return { ...what, result: 'skipped', reason: `to do: ${reasonOf(todo)}` };
  if (skip !== undefined && skip !== false) return { ...what, result: 'skipped', reason: reasonOf(skip) };
  if (event.type === 'test:pass') {
    const isFile = file !== undefined && resolve(root, name) === file; // a file without tests passes as itself
    return details.type === 'suite' || isFile ? undefined : { ...what, result: 'passed' };
  }
  // A parent that fails only because a child did would be told twice.
  const { error } = event.data.details;
  if ('failureType' in error && error.failureType === 'subtestsFailed') return undefined;
  return { ...what, result: 'failed', detail: detailOf(error) };
}

function placeOf({ file, line }: { file?: string; line?: number }, root: string): string {
  return `${relative(root, file ?? root)}:${line ?? 1}`;
}

function reasonOf(given: string | boolean): string {
  return typeof given === 'string' && given !== '' ? given : 'no reason given';
}

/** The error that the test threw and what caused it, without the frames of Node itself. */
function detailOf(error: Error): string {
  const wrapped =
    'failureType' in error && error.failureType !== 'hookFailed' && error.cause instanceof Error;
  const texts: string[] = [];
  let current: unknown = wrapped ? error.cause : error;
  for (let depth = 0; current instanceof Error && depth < 8; depth++, current = current.cause) {
    texts.push((current.stack ?? current.message).replaceAll(/\n {4}at .*\bnode:.*/g, ''));
  }
  if (current !== undefined && current !== null && !(current instanceof Error)) texts.push(String(current));
  return texts.join('\ncaused by: ');
}
