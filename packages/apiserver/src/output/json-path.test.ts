import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { parseJsonPath } from './json-path.ts';

const object = {
  metadata: { name: 'a', labels: { 'example.com/x': 'y', 'a.b': 'c' } },
  spec: { replicas: 2, ports: [80, 443, 8080], list: [{ n: 1 }, { n: 2, deep: { n: 3 } }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', count: 3 },
      { type: 'Idle', status: 'False', isOld: true },
    ],
  },
};

describe('a JSONPath leads', () => {
  const cases: [string, unknown[]][] = [
    ['.metadata.name', ['a']],
    ['metadata.name', ['a']],
    ['$.metadata.name', ['a']],
    ['.metadata.nothing', []],
    ['.metadata.name.deeper', []],
    ['.', [object]],
    [".metadata.labels['example.com/x']", ['y']],
    ['.metadata.labels["a.b"]', ['c']],
    ['.metadata.labels.a\\.b', ['c']],
    ['.spec.ports[0]', [80]],
    ['.spec.ports[-1]', [8080]],
    ['.spec.ports[9]', []],
    ['.spec.ports[*]', [80, 443, 8080]],
    ['.spec.ports[0:2]', [80, 443]],
    ['.spec.ports[::2]', [80, 8080]],
    ['.spec.ports[0,2]', [80, 8080]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Idle')].status", ['False']],
    ['.status.conditions[?(@.type == "None")].status', []],
    ['.status.conditions[?(@.count>2)].type', ['Ready']],
    ['.status.conditions[?(@.isOld==true)].type', ['Idle']],
    ['.status.conditions[?(@.count)].type', ['Ready']],
    ['.status.conditions[?(@.type!="Ready")].type', ['Idle']],
    ['.status.conditions[*].type', ['Ready', 'Idle']],
    ['.spec..n', [1, 2, 3]],
    ['.spec.list[*].deep.n', [3]],
    ['.constructor', []],
    ['.__proto__', []],
  ];
  for (const [path, want] of cases) {
    test(`${path} to ${JSON.stringify(want).slice(0, 40)}`, () =>
      assert.deepEqual(parseJsonPath(path)(object), want));
  }

  for (const path of ['.a[', '.a[x]', '.a[?(b)]', '.a[?(@.b==c)]', '..', '.a..']) {
    test(`nowhere when it is "${path}"`, () =>
      assert.throws(
        () => parseJsonPath(path),
        (err) => isFault(err, 'invalid'),
      ));
  }

  test('to something or is refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[.[\]?()@a-c0-9'"=:*\\,]*$/), fc.jsonValue(), (path, value) => {
        try {
          assert.ok(Array.isArray(parseJsonPath(path)(value)));
        } catch (err) {
          assert.ok(isFault(err, 'invalid'), String(err));
        }
      }),
    );
  });
});
