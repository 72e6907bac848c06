import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { jsonEquals, mergeDiff, mergePatch } from './merge-patch.ts';

// The examples of RFC 7386, appendix A, as [target, patch, result].
const examples: [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

/** JSON without null members, which a merge patch cannot express. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('value')),
  ),
})).value;

describe('mergePatch', () => {
  for (const [target, patch, want] of examples) {
    test(`${JSON.stringify(target)} under ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(mergePatch(target, patch), want);
    });
  }

  test('neither argument is changed, and what the patch does not touch is shared', () => {
    const target = Object.freeze({ kept: Object.freeze({ x: 1 }), gone: 1 });
    const patch = Object.freeze({ gone: null, added: 2 });
    const result = mergePatch(target, patch) as { kept: object };
    assert.equal(result.kept, target.kept);
    assert.deepEqual(result, { kept: { x: 1 }, added: 2 });
  });

  test('a member named __proto__ is data like any other', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    const result = mergePatch({}, patch) as { polluted?: boolean };
    assert.equal(result.polluted, undefined);
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":true}}');
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  test('a patch nested without end is refused', () => {
    const patch: unknown = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    assert.throws(() => mergePatch({}, patch), RangeError);
  });
});

describe('mergeDiff', () => {
  test('its patch turns one value into the other', () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const patch = mergeDiff(from, to);
        const result = patch === undefined ? from : mergePatch(from, patch);
        assert.ok(jsonEquals(result, to), JSON.stringify({ from, to, patch, result }));
      }),
    );
  });

  test('equal values need no patch', () => {
    fc.assert(fc.property(json, (value) => mergeDiff(value, structuredClone(value)) === undefined));
  });
});

test('equality ignores the order of members and members that are undefined', () => {
  assert.ok(jsonEquals({ a: 1, b: [{ c: 2, d: undefined }] }, { b: [{ c: 2 }], a: 1 }));
  assert.ok(!jsonEquals({ a: 1 }, { a: 1, b: null }));
  assert.ok(!jsonEquals([1, 2], [2, 1]));
  assert.ok(!jsonEquals({}, []));
});
