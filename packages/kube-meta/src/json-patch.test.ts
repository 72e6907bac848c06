import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { jsonPatch } from './json-patch.ts';

const cases: { name: string; from: unknown; patch: unknown[]; want?: unknown }[] = [
  {
    name: 'adds a member',
    from: { a: 1 },
    patch: [{ op: 'add', path: '/b', value: 2 }],
    want: { a: 1, b: 2 },
  },
  { name: 'adds null for no value', from: {}, patch: [{ op: 'add', path: '/b' }], want: { b: null } },
  {
    name: 'inserts into an array',
    from: [1, 3],
    patch: [{ op: 'add', path: '/1', value: 2 }],
    want: [1, 2, 3],
  },
  { name: 'appends to an array', from: [1], patch: [{ op: 'add', path: '/-', value: 2 }], want: [1, 2] },
  { name: 'appends at -1', from: [1], patch: [{ op: 'add', path: '/-1', value: 2 }], want: [1, 2] },
  { name: 'does not add beyond the end', from: [1], patch: [{ op: 'add', path: '/2', value: 2 }] },
  { name: 'does not add below what is missing', from: {}, patch: [{ op: 'add', path: '/a/b', value: 2 }] },
  { name: 'does not add the whole document', from: {}, patch: [{ op: 'add', path: '', value: {} }] },
  { name: 'removes a member', from: { a: 1, b: 2 }, patch: [{ op: 'remove', path: '/a' }], want: { b: 2 } },
  { name: 'removes from the end', from: [1, 2], patch: [{ op: 'remove', path: '/-1' }], want: [1] },
  { name: 'does not remove what is missing', from: {}, patch: [{ op: 'remove', path: '/a' }] },
  { name: 'does not remove behind the end', from: [1], patch: [{ op: 'remove', path: '/-' }] },
  { name: 'replaces', from: { a: 1 }, patch: [{ op: 'replace', path: '/a', value: [] }], want: { a: [] } },
  {
    name: 'replaces what is missing',
    from: {},
    patch: [{ op: 'replace', path: '/a', value: 1 }],
    want: { a: 1 },
  },
  {
    name: 'replaces everything',
    from: {},
    patch: [{ op: 'replace', path: '', value: { b: 1 } }],
    want: { b: 1 },
  },
  { name: 'does not replace beyond the end', from: [1], patch: [{ op: 'replace', path: '/1', value: 2 }] },
  { name: 'reads escapes', from: { 'a/b~': 1 }, patch: [{ op: 'remove', path: '/a~1b~0' }], want: {} },
  { name: 'moves', from: { a: 1 }, patch: [{ op: 'move', from: '/a', path: '/b' }], want: { b: 1 } },
  { name: 'does not move what is missing', from: {}, patch: [{ op: 'move', from: '/a', path: '/b' }] },
  { name: 'does not move into itself', from: { a: {} }, patch: [{ op: 'move', from: '/a', path: '/a/b' }] },
  {
    name: 'copies',
    from: { a: [1] },
    patch: [{ op: 'copy', from: '/a', path: '/b' }],
    want: { a: [1], b: [1] },
  },
  {
    name: 'copies what is missing as null',
    from: {},
    patch: [{ op: 'copy', from: '/a', path: '/b' }],
    want: { b: null },
  },
  {
    name: 'passes a test',
    from: { a: { b: 1 } },
    patch: [{ op: 'test', path: '/a', value: { b: 1 } }],
    want: { a: { b: 1 } },
  },
  {
    name: 'passes a test for null by absence',
    from: {},
    patch: [{ op: 'test', path: '/a', value: null }],
    want: {},
  },
  { name: 'fails a test', from: { a: 1 }, patch: [{ op: 'test', path: '/a', value: 2 }] },
  { name: 'knows no other operation', from: {}, patch: [{ op: 'increment', path: '/a' }] },
  { name: 'needs a path', from: {}, patch: [{ op: 'add', value: 1 }] },
  { name: 'needs operations', from: {}, patch: ['add'] },
  {
    name: 'keeps away from prototypes',
    from: {},
    patch: [{ op: 'add', path: '/__proto__', value: { x: 1 } }],
  },
  {
    name: 'keeps away from prototypes of prototypes',
    from: {},
    patch: [{ op: 'add', path: '/constructor/prototype/x', value: 1 }],
  },
];

describe('a JSON patch', () => {
  for (const { name, from, patch, ...outcome } of cases) {
    test(name, () => {
      const frozen = Object.freeze(from);
      if ('want' in outcome) assert.deepEqual(jsonPatch(frozen, patch), outcome.want);
      else
        assert.throws(
          () => jsonPatch(frozen, patch),
          (err) => isFault(err, 'invalid'),
        );
    });
  }

  test('is refused when it copies a value into itself without end', () => {
    const doubling = Array.from({ length: 40 }, (_, at) => ({ op: 'copy', from: '/a', path: `/a/${at}` }));
    assert.throws(
      () => jsonPatch({ a: {} }, doubling),
      (err) => isFault(err, 'invalid'),
    );
  });

  test('never throws anything but an invalid fault, and never changes its target', () => {
    const path = fc.constantFrom('', '/a', '/a/0', '/a/-', '/a/b', '/b/-1', 'x', '/__proto__/a', '/a/0/b');
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
        path,
        from: path,
        value: fc.jsonValue(),
      },
      { requiredKeys: ['op'] },
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(operation, { maxLength: 6 }), (target, operations) => {
        const before = JSON.stringify(target);
        try {
          jsonPatch(target, operations);
        } catch (err) {
          assert.ok(isFault(err, 'invalid'), String(err));
        }
        assert.equal(JSON.stringify(target), before);
      }),
    );
  });
});
