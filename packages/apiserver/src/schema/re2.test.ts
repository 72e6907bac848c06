import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matches, paceOf, regExpOf } from './re2.ts';
import { needsWatch, withinTime } from './time-box.ts';

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

  const paces: [pattern: string, pace: string][] = [
    ['^abc$', 'swift'],
    ['^[a-z]+$', 'swift'],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'swift'],
    ['^[*+]{3}$', 'swift'],
    ['a*a*b', 'flat'],
    ['^(a+)+$', 'wild'],
    ['^(a|aa)*$', 'wild'],
  ];
  for (const [pattern, pace] of paces) {
    test(`${pattern} is ${pace}`, () => assert.equal(paceOf(pattern), pace));
  }
});

test('work that does not end is ended, in a pattern and in a loop', () => {
  const pattern = () => matches('^(a+)+$', `${'a'.repeat(60)}!`);
  const loop = () => {
    needsWatch();
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
