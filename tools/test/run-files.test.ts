import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import type { Outcome } from './outcome.ts';
import { outcomesOf, type RunOptions, runFiles } from './run-files.ts';

const root = resolve(import.meta.dirname, '../..');

/** Runs one test file of this text in a process of its own. */
async function outcomesOfFile(source: string, options: Partial<RunOptions> = {}): Promise<Outcome[]> {
  const dir = mkdtempSync(join(tmpdir(), 'run-files-'));
  const file = join(dir, 'x.test.ts');
  writeFileSync(file, `import { before, describe, test } from 'node:test';\n${source}`);
  try {
    const signal = new AbortController().signal;
    const outcomes = await runFiles([file], { root, timeoutMs: 60_000, signal, ...options });
    const shorten = (place: string) => place.replace(relative(root, file), 'x').replace(file, 'x');
    return outcomes.map((outcome) => ({ ...outcome, place: shorten(outcome.place) }));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test('run files: each test has one outcome, with its place and its reason', async () => {
  const outcomes = await outcomesOfFile(`
    test('passes', () => console.log('not a result'));
    test('is skipped', { skip: 'needs root' }, () => {});
    test('is not done', { todo: 'soon' }, () => { throw new Error(); });
    describe('a suite', () => test('inside', () => {}));
    describe('a skipped suite', { skip: 'not here' }, () => test('never', () => {}));
  `);
  assert.deepEqual(outcomes, [
    { result: 'passed', name: 'passes', place: 'x:3' },
    { result: 'skipped', name: 'is skipped', place: 'x:4', reason: 'needs root' },
    { result: 'skipped', name: 'is not done', place: 'x:5', reason: 'to do: soon' },
    { result: 'passed', name: 'a suite: inside', place: 'x:6' },
    { result: 'skipped', name: 'a skipped suite', place: 'x:7', reason: 'not here' },
  ]);
});

test('run files: a failure is told once, where it happened, with its cause and what was printed', async () => {
  const outcomes = await outcomesOfFile(`
    describe('outer', () => test('middle', async (t) => {
      await t.test('inner', () => {
        console.log('a hint');
        throw new Error('broken', { cause: new Error('the deeper reason') });
      });
    }));
  `);
  assert.deepEqual(
    outcomes.map(({ result, name, place }) => [result, name, place]),
    [['failed', 'outer.middle: inner', 'x:4']],
  );
  const { detail } = outcomes[0] as Outcome & { result: 'failed' };
  assert.match(detail, /^Error: broken\n {4}at .*x\.test\.ts:6/);
  assert.match(detail, /\ncaused by: Error: the deeper reason\n/);
  assert.match(detail, /\noutput:\na hint$/);
  assert.doesNotMatch(detail, /node:internal/);
});

test('run files: a failing hook fails its suite and the tests that did not run', async () => {
  const outcomes = await outcomesOfFile(`
    describe('suite', () => {
      before(() => { throw new Error('no ground to stand on'); });
      test('never runs', () => {});
    });
  `);
  assert.deepEqual(
    outcomes.map(({ result, name }) => [result, name]),
    [
      ['failed', 'suite: never runs'],
      ['failed', 'suite'],
    ],
  );
  assert.match((outcomes[1] as Outcome & { result: 'failed' }).detail, /no ground to stand on/);
});

const deaths: { name: string; source: string; timeoutMs?: number; want: RegExp }[] = [
  {
    name: 'a file that cannot be loaded',
    source: `import './no-such-file.ts';`,
    want: /no-such-file/,
  },
  {
    name: 'a process that exits in the middle of a test',
    source: `test('leaves', () => setImmediate(() => process.exit(0)) && new Promise(() => {}));`,
    want: /ended with status 0 before its tests did; still running: .*:2 leaves/,
  },
  {
    name: 'a process that is killed',
    source: `test('dies', () => process.kill(process.pid, 'SIGKILL'));`,
    want: /ended with status 137 before its tests did/,
  },
  {
    name: 'a test that never ends',
    source: `test('hangs', () => new Promise(() => setInterval(() => {}, 1000)));`,
    timeoutMs: 1500,
    want: /did not end within 1\.5 s; still running: .*:2 hangs/,
  },
  {
    name: 'a file without tests',
    source: '',
    want: /has no tests/,
  },
];

for (const { name, source, timeoutMs, want } of deaths) {
  test(`run files: ${name} is a failure that says so`, async () => {
    const outcomes = await outcomesOfFile(source, timeoutMs ? { timeoutMs } : {});
    assert.equal(outcomes.length, 1);
    assert.match((outcomes[0] as Outcome & { result: 'failed' }).detail, want);
  });
}

test('run files: an end of the process that the tests cannot explain is a failure', () => {
  const outcomes = outcomesOf(
    [{ type: 'outcome', outcome: { result: 'passed', name: 'fine', place: 'x:1' } }, { type: 'finished' }],
    { code: 1, timedOut: false, output: 'late trouble\n' },
    { place: 'x', timeoutMs: 1000 },
  );
  assert.deepEqual(outcomes[1], {
    result: 'failed',
    name: 'its process',
    place: 'x',
    detail: 'ended with status 1\noutput:\nlate trouble',
  });
});

test('run files: something left open after the last test is a failure of the file', () => {
  const result = { code: 143, timedOut: true, output: '' };
  const outcomes = outcomesOf([{ type: 'finished' }], result, { place: 'x', timeoutMs: 2000 });
  assert.match(JSON.stringify(outcomes), /did not end within 2 s: a test left something open/);
});

test('run files: abort ends the process and throws the reason', async () => {
  const stop = new AbortController();
  const running = outcomesOfFile(`test('hangs', () => new Promise(() => setInterval(() => {}, 1000)));`, {
    signal: stop.signal,
  });
  stop.abort(new Error('enough'));
  await assert.rejects(running, /enough/);
});
