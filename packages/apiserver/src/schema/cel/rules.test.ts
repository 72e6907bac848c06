import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Rule, Schema } from '../schema.ts';
import { ruleChecker } from './compile.ts';
import { checkedInTime, ruleProblems } from './rules.ts';

function schemaWith(rules: readonly (Rule | string)[]): Schema {
  const made = rules.map((rule) => (typeof rule === 'string' ? { rule } : rule));
  return {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-validations': made,
        properties: {
          n: { type: 'integer' },
          s: { type: 'string' },
          'x-y': { type: 'string' },
          namespace: { type: 'string' },
          l: { type: 'array', items: { type: 'string' } },
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          m: { type: 'object', additionalProperties: { type: 'integer' } },
          o: { type: 'object', properties: { x: { type: 'string' } } },
          at: { type: 'string', format: 'date-time' },
          either: { 'x-kubernetes-int-or-string': true },
        },
      },
    },
  };
}

function failed(rules: readonly (Rule | string)[], spec: object, oldSpec?: object): string[] {
  const old = oldSpec && { spec: oldSpec };
  return ruleProblems({ spec }, schemaWith(rules), old).map(({ field, message }) => `${field}: ${message}`);
}

describe('what a rule sees', () => {
  const holds: [rule: string, spec: object][] = [
    ['self.n + 1 == 4', { n: 3 }],
    ['self.x__dash__y == "a"', { 'x-y': 'a' }],
    ['self.__namespace__ == "a"', { namespace: 'a' }],
    ['has(self.s) && !has(self.n)', { s: '' }],
    ['self.m.all(k, self.m[k] > 1)', { m: { a: 2 } }],
    ['self.at > timestamp("2020-01-01T00:00:00Z")', { at: '2021-01-01T00:00:00Z' }],
    ['self.either == 5', { either: 5 }],
    ['self.?n.orValue(3) == 3', {}],
    ['quantity(self.s).isLessThan(quantity("1Gi"))', { s: '1Mi' }],
    ['isQuantity("1.5Gi") && !isQuantity("x")', {}],
    ['ip(self.s).family() == 4 && ip(self.s).isLoopback()', { s: '127.0.0.1' }],
    ['cidr("10.0.0.0/8").containsIP(self.s)', { s: '10.1.2.3' }],
    ['cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8")', {}],
    [
      'url(self.s).getHost() == "a.b:80" && url(self.s).getHostname() == "a.b"',
      { s: 'https://a.b:80/c?d=e' },
    ],
    ['self.s.find("[0-9]+") == "12" && self.s.findAll("[a-z]") == ["a", "b"]', { s: 'a12b' }],
    ['self.s.matches("(?i)^ABC$")', { s: 'abc' }],
    ['self.l.isSorted() && self.l.max() == "b" && self.l.indexOf("b") == 1', { l: ['a', 'b'] }],
    ['[1, 2, 3].sum() == 6', {}],
    ['sets.contains(self.l, ["a"]) && sets.intersects(self.l, ["b", "c"])', { l: ['a', 'b'] }],
    ['self.set == ["b", "a"]', { set: ['a', 'b'] }],
    ['"%s has %d".format([self.s, self.n]) == "a has 3"', { s: 'a', n: 3 }],
    [
      '!format.dns1123Label().validate("a-b").hasValue() && format.dns1123Label().validate("A").hasValue()',
      {},
    ],
    ['self.s.replace("a", "b", 1) == "ba" && self.s.charAt(0) == "a"', { s: 'aa' }],
  ];
  for (const [rule, spec] of holds) {
    test(`${rule} holds for ${JSON.stringify(spec)}`, () => assert.deepEqual(failed([rule], spec), []));
  }
});

describe('what a rule that does not hold is told as', () => {
  const cases: { rule: Rule | string; spec: object; want: string[] }[] = [
    { rule: 'self.n > 1', spec: { n: 1 }, want: ['spec: Invalid value: failed rule: self.n > 1'] },
    {
      rule: { rule: 'self.n > 1', message: 'n is small', reason: 'FieldValueForbidden', fieldPath: '.n' },
      spec: { n: 1 },
      want: ['spec.n: Forbidden: n is small'],
    },
    {
      rule: { rule: 'self.n > 1', message: 'fixed', messageExpression: '"n was " + string(self.n)' },
      spec: { n: 1 },
      want: ['spec: Invalid value: n was 1'],
    },
    {
      rule: { rule: 'self.n > 1', message: 'fixed', messageExpression: 'self.s' },
      spec: { n: 1 },
      want: ['spec: Invalid value: fixed'],
    },
    {
      rule: 'self.n / 0 == 1',
      spec: { n: 1 },
      want: ['spec: Invalid value: "object": division by zero evaluating rule: self.n / 0 == 1'],
    },
    {
      rule: { rule: 'self.n > 1', reason: 'FieldValueRequired', message: 'm' },
      spec: { n: 0 },
      want: ['spec: Required value: m'],
    },
  ];
  for (const { rule, spec, want } of cases) {
    test(`${JSON.stringify(rule)} for ${JSON.stringify(spec)}`, () =>
      assert.deepEqual(failed([rule], spec), want));
  }
});

describe('rules about a change', () => {
  const fixed = 'has(self.l) == has(oldSelf.l) && (!has(self.l) || self.l == oldSelf.l)';
  const cases: { name: string; spec: object; old?: object; isAllowed: boolean }[] = [
    { name: 'are not asked at creation', spec: { l: ['a'] }, isAllowed: true },
    { name: 'allow what stays', spec: { l: ['a'], n: 1 }, old: { l: ['a'] }, isAllowed: true },
    { name: 'refuse a change', spec: { l: ['b'] }, old: { l: ['a'] }, isAllowed: false },
    { name: 'refuse an addition', spec: { l: [] }, old: {}, isAllowed: false },
    { name: 'refuse a removal', spec: {}, old: { l: ['a'] }, isAllowed: false },
    { name: 'allow absence', spec: {}, old: { n: 1 }, isAllowed: true },
  ];
  for (const { name, spec, old, isAllowed } of cases) {
    test(name, () => {
      const problems = failed([{ rule: fixed, message: 'l is immutable' }], spec, old);
      assert.deepEqual(problems, isAllowed ? [] : ['spec: Invalid value: l is immutable']);
    });
  }

  test('see nothing at creation when they ask for it', () => {
    const rule = { rule: 'oldSelf.hasValue() || self.n == 1', optionalOldSelf: true };
    assert.equal(failed([rule], { n: 1 }).length, 0);
    assert.equal(failed([rule], { n: 2 }).length, 1);
    assert.equal(failed([rule], { n: 2 }, { n: 1 }).length, 0);
  });

  test('others leave alone what has not changed', () => {
    assert.deepEqual(failed(['self.n > 1'], { n: 1 }, { n: 1 }), []);
  });
});

test('a rule that takes for ever is ended', () => {
  const items = Array.from({ length: 400 }, (_, at) => `${at}`);
  const loops = 'self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, a + b + c + d != "x"))))';
  const schema = schemaWith([loops]);
  const problems = checkedInTime(schema, () => ruleProblems({ spec: { l: items } }, schema, undefined));
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      'Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  );
});

describe('compiling a rule', () => {
  const check = ruleChecker(schemaWith([]).properties?.spec as Schema, false);
  const cases: { rule: Rule | string; want: string | undefined }[] = [
    { rule: 'self.n > 1', want: undefined },
    { rule: 'self.o == oldSelf.o && self.m["a"] == 1', want: undefined },
    {
      rule: 'self.foo == 1',
      want: "compilation failed: ERROR: <input>:1:5: undefined field 'foo'\n | self.foo == 1\n | ....^",
    },
    {
      rule: 'has(self.foo)',
      want: "compilation failed: ERROR: <input>:1:4: undefined field 'foo'\n | has(self.foo)\n | ...^",
    },
    {
      rule: 'foo > 1',
      want: "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo > 1\n | ^",
    },
    {
      rule: 'self.n == "a"',
      want: "compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.n == \"a\"\n | .......^",
    },
    { rule: 'self.n', want: 'cel expression must evaluate to a bool' },
    {
      rule: 'self.s.matches("(")',
      want: 'compilation failed: ERROR: <input>:1:16: invalid matches argument\n | self.s.matches("(")\n | ...............^',
    },
  ];
  for (const { rule, want } of cases) {
    test(JSON.stringify(rule), () => {
      assert.equal(check(typeof rule === 'string' ? { rule } : rule).rule, want);
    });
  }

  test('a message must be a text', () => {
    const verdict = check({ rule: 'true', messageExpression: 'self.n' });
    assert.equal(verdict.messageExpression, 'messageExpression must evaluate to a string');
  });
});
