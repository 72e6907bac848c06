import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSwift, regExpOf } from './re2.ts';
import { withinTime } from './time-box.ts';

describe('regular expressions in RE2 syntax', () => {
  const cases: [pattern: string, text: string, matches: boolean][] = [
    ['^a+$', 'aaa', true],
    ['(?i)^ABC$', 'abc', true],
    ['\\Aabc\\z', 'abc', true],
    ['^[[:alpha:]]+$', 'abc', true],
    ['^[[:digit:]_]+$', '12_', true],
    ['^(?P<year>\\d{4})$', '2030', true],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a-b', true],
    ['^\\-\\_$', '-_', true],
    ['^.$', 'é', true],
  ];
  for (const [pattern, text, matches] of cases) {
    test(`${pattern} and ${text}`, () => assert.equal(regExpOf(pattern).test(text), matches));
  }

  test('a pattern nobody can read is refused', () => assert.throws(() => regExpOf('('), SyntaxError));

  const swift: [pattern: string, isIt: boolean][] = [
    ['^abc$', true],
    ['^[a-z]+$', true],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', true],
    ['^(a+)+$', false],
    ['a*a*b', false],
    ['^(a|aa)*$', false],
    ['^[*+]{3}$', true],
  ];
  for (const [pattern, isIt] of swift) {
    test(`${pattern} ${isIt ? 'takes' : 'may not take'} time in proportion`, () => {
      assert.equal(isSwift(pattern), isIt);
    });
  }
});

test('work that does not end is ended, in a pattern and in a loop', () => {
  const pattern = () => regExpOf('^(a+)+$').test(`${'a'.repeat(60)}!`);
  const loop = () => {
    for (;;);
  };
  for (const work of [pattern, loop]) {
    assert.throws(() => withinTime(work, 20), { code: 'timeout' });
  }
  assert.equal(
    withinTime(() => 42, 1000),
    42,
  );
  assert.throws(
    () =>
      withinTime(() => {
        throw new TypeError('mine');
      }, 1000),
    { name: 'TypeError', message: 'mine' },
  );
});
