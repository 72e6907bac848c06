import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { duplicateFields, jsonProblem, parseMerged } from './json-text.ts';

describe('members that are named twice', () => {
  const cases: [string, string[]][] = [
    ['{"a":1,"b":{"a":1}}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"spec":{"x":[{"y":1},{"y":1,"y":2}]}}', ['spec.x[1].y']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a\\"b":1,"a\\"b":2}', ['a"b']],
    ['{"a":"{\\"b\\":1,\\"b\\":1}"}', []],
    ['{"a":[["x","x"]],"b":"a","c":{}}', []],
    ['{"a":{},"a":{},"a":{}}', ['a', 'a']],
    ['[{"a":1,"a":1}]', ['[0].a']],
  ];
  for (const [text, want] of cases) {
    test(text, () => assert.deepEqual(duplicateFields(text), want));
  }

  test('are never seen in what was written by a serializer', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => duplicateFields(JSON.stringify(value)).length === 0));
  });

  test('are looked for in bodies of a sane depth only', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    assert.deepEqual(duplicateFields(nested(1_000)), []);
    assert.throws(() => duplicateFields(nested(1_001)), { code: 'invalid' });
  });
});

describe('what is wrong with a text', () => {
  const cases: [string, string][] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['nonsense', "invalid character 'o' in literal null (expecting 'u')"],
    ['tru', 'unexpected end of JSON input'],
    ['1 2', "invalid character '2' after top-level value"],
    ['-a', "invalid character 'a' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ["'", "invalid character '\\'' looking for beginning of value"],
  ];
  for (const [text, want] of cases) {
    test(JSON.stringify(text), () => {
      assert.throws(() => JSON.parse(text) as unknown, SyntaxError);
      assert.equal(jsonProblem(text), want);
    });
  }

  test('is found in everything that does not parse, and only there', () => {
    const near = fc.oneof(
      fc.string(),
      fc.json().map((text) => text.slice(0, -1)),
      fc.json(),
      fc.stringMatching(/^[[\]{}",:0-9a-z\\ -]*$/),
    );
    fc.assert(
      fc.property(near, (text) => {
        let parses = true;
        try {
          JSON.parse(text);
        } catch {
          parses = false;
        }
        assert.equal(jsonProblem(text) === 'invalid JSON', parses, text);
      }),
    );
  });
});

describe('a text that names members twice', () => {
  test('is read as everything that was said of them', () => {
    const text =
      '{ "data" : {"k":"1","k":"2"} , "data":{"j":[1, {"x":null}]},"a":1,"a":{"b":true},"e":[],"o":{} }';
    assert.deepEqual(parseMerged(text), {
      data: { k: '2', j: [1, { x: null }] },
      a: { b: true },
      e: [],
      o: {},
    });
  });

  test('is otherwise what it always was', () => {
    fc.assert(
      fc.property(fc.json(), (text) => assert.deepEqual(parseMerged(text), JSON.parse(text) as unknown)),
    );
  });
});
