import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodeOf } from './exit-codes.ts';
import { formatAge, formatTable } from './table.ts';
import { parseCpu, parseDurationMs, parseEnv, parseMemory, parseName, UsageFault } from './values.ts';

for (const [text, ms] of [
  ['1', 1000],
  ['0.5', 500],
  ['500ms', 500],
  ['90s', 90_000],
  ['2m', 120_000],
  ['1h', 3_600_000],
] as const) {
  test(`the duration ${text} is ${ms} ms`, () => assert.equal(parseDurationMs('--timeout', text), ms));
}

for (const text of ['', '0', '-1', '1d', 'soon', '1 s', '0.0001']) {
  test(`the duration "${text}" is refused and the flag named`, () => {
    assert.throws(
      () => parseDurationMs('--timeout', text),
      (err) => err instanceof UsageFault && /--timeout/.test(err.message),
    );
  });
}

test('variables are set, may hold any value, or are passed on by name', () => {
  assert.deepEqual(parseEnv(['A=1', 'B=x=y', 'C=', 'HOME', 'UNSET'], { HOME: '/h' }), {
    A: '1',
    B: 'x=y',
    C: '',
    HOME: '/h',
  });
  assert.throws(() => parseEnv(['1A=2'], {}), /not a variable name/);
  assert.throws(() => parseEnv(['=2'], {}), /not a variable name/);
});

test('amounts of CPU and memory are checked before anything is made', () => {
  for (const good of ['1', '0.5', '500m']) assert.equal(parseCpu(good), good);
  for (const bad of ['', '0', 'two', '1.5m', '-1']) assert.throws(() => parseCpu(bad), UsageFault);
  for (const good of ['512Mi', '2Gi', '500M', '1.5Gi']) assert.equal(parseMemory(good), good);
  for (const bad of ['', '0', '2GB', '1 Gi', '-1Mi', '1', '4Mi'])
    assert.throws(() => parseMemory(bad), UsageFault);
});

test('a sandbox name is a DNS label', () => {
  assert.equal(parseName('a-1'), 'a-1');
  for (const bad of ['', 'A', 'a_b', '-a', 'a-', 'a'.repeat(64), 'a/b'])
    assert.throws(() => parseName(bad), UsageFault);
});

for (const { exit, want } of [
  { exit: { exitCode: 0 }, want: 0 },
  { exit: { exitCode: 255 }, want: 255 },
  { exit: { signal: 'SIGKILL' }, want: 137 },
  { exit: { signal: 'SIGSEGV' }, want: 139 },
  { exit: { signal: 'SIGKILL', timedOut: true }, want: 124 },
]) {
  test(`an end of ${JSON.stringify(exit)} is exit status ${want}`, () =>
    assert.equal(exitCodeOf(exit), want));
}

test('a table lines its columns up and has no trailing spaces', () => {
  assert.equal(
    formatTable(
      ['NAME', 'AGE'],
      [
        ['a', '1s'],
        ['longer', ''],
      ],
    ),
    'NAME     AGE\na        1s\nlonger\n',
  );
});

test('ages are written as kubectl writes them', () => {
  const now = new Date('2030-01-10T00:00:00Z');
  const ago = (ms: number) => formatAge(new Date(now.getTime() - ms).toISOString(), now);
  assert.deepEqual(
    [ago(5000), ago(119_000), ago(600_000), ago(7_200_000), ago(400_000_000)],
    ['5s', '119s', '10m', '2h', '4d'],
  );
});
