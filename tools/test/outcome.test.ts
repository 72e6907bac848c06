import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Outcome, summary } from './outcome.ts';

const passed: Outcome = { result: 'passed', name: 'works', place: 'a.test.ts:1' };

test('summary: a run without tests still ends with the line', () => {
  assert.equal(summary([]), '0 passed, 0 failed, 0 skipped');
});

test('summary: skips stand with their reason, failures with their place, the line last', () => {
  const outcomes: Outcome[] = [
    passed,
    { result: 'failed', name: 'breaks', place: 'b.test.ts:7', detail: 'Error: one\n\n  two\n' },
    passed,
    { result: 'skipped', name: 'waits', place: 'c.test.ts:3', reason: 'needs root' },
  ];
  assert.equal(
    summary(outcomes),
    [
      'skipped c.test.ts:3 waits: needs root',
      'FAILED b.test.ts:7 breaks',
      '    Error: one',
      '',
      '      two',
      '2 passed, 1 failed, 1 skipped',
    ].join('\n'),
  );
});
