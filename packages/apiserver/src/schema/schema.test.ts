import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { normalise } from './normalise.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

const spec: Schema = {
  type: 'object',
  required: ['mode'],
  properties: {
    mode: { type: 'string', enum: ['Running', 'Suspended'], default: 'Running' },
    replicas: { type: 'integer', minimum: 0, maximum: 10, format: 'int32' },
    port: { 'x-kubernetes-int-or-string': true },
    note: { type: 'string', nullable: true },
    until: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, maxItems: 2 },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    nested: {
      type: 'object',
      default: {},
      properties: { deep: { type: 'boolean', default: true } },
    },
  },
};

describe('normalising', () => {
  const cases: { name: string; given: unknown; want: unknown }[] = [
    {
      name: 'absent fields get their defaults, nested ones too',
      given: {},
      want: { mode: 'Running', nested: { deep: true } },
    },
    {
      name: 'a null that is not allowed makes room for the default',
      given: { mode: null, replicas: null },
      want: { mode: 'Running', nested: { deep: true } },
    },
    {
      name: 'an allowed null stays',
      given: { note: null },
      want: { note: null, mode: 'Running', nested: { deep: true } },
    },
    {
      name: 'unknown fields go',
      given: { mode: 'Suspended', extra: 1, nested: { deep: false, extra: 1 } },
      want: { mode: 'Suspended', nested: { deep: false } },
    },
    {
      name: 'unknown fields stay where that is asked for',
      given: { free: { any: { thing: [1] } } },
      want: { free: { any: { thing: [1] } }, mode: 'Running', nested: { deep: true } },
    },
    {
      name: 'a map keeps its keys',
      given: { labels: { a: 'b' } },
      want: { labels: { a: 'b' }, mode: 'Running', nested: { deep: true } },
    },
    {
      name: 'a value of the wrong type is left for validation to tell',
      given: { nested: 'text' },
      want: { nested: 'text', mode: 'Running' },
    },
  ];
  for (const { name, given, want } of cases) {
    test(name, () => {
      const before = structuredClone(given);
      assert.deepEqual(normalise(given, spec), want);
      assert.deepEqual(given, before, 'the argument is not changed');
    });
  }

  test('what needs no change is returned as it is', () => {
    const given = { mode: 'Running', nested: { deep: true }, tags: ['a'] };
    assert.equal(normalise(given, spec), given);
  });

  test('normalising twice is normalising once, for any value', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(...Object.keys(spec.properties ?? {}), 'x', '__proto__'),
          fc.jsonValue(),
        ),
        (value) => {
          const once = normalise(value, spec);
          assert.equal(normalise(once, spec), once);
        },
      ),
    );
  });
});

describe('validation', () => {
  const cases: { given: unknown; want: string[] }[] = [
    { given: { mode: 'Running', replicas: 3, port: 'http', tags: ['a'], labels: { a: 'b' } }, want: [] },
    { given: {}, want: ['mode: Required value'] },
    {
      given: { mode: 'Off' },
      want: ['mode: Unsupported value: "Off": supported values: "Running", "Suspended"'],
    },
    {
      given: { mode: 1 },
      want: [
        'mode: Invalid value: "integer": mode in body must be of type string: "integer"',
        'mode: Unsupported value: 1: supported values: "Running", "Suspended"',
      ],
    },
    {
      given: { mode: 'Running', replicas: '3' },
      want: ['replicas: Invalid value: "string": replicas in body must be of type integer: "string"'],
    },
    {
      given: { mode: 'Running', replicas: 1.5 },
      want: [
        'replicas: Invalid value: "float64": replicas in body must be of type int32: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in replicas',
      ],
    },
    {
      given: { mode: 'Running', replicas: -1 },
      want: ['replicas: Invalid value: -1: replicas in body should be greater than or equal to 0'],
    },
    {
      given: { mode: 'Running', replicas: 11 },
      want: ['replicas: Invalid value: 11: replicas in body should be less than or equal to 10'],
    },
    {
      given: { mode: 'Running', port: true },
      want: ['port: Invalid value: "boolean": port in body must be of type integer,string: "boolean"'],
    },
    { given: { mode: 'Running', note: null }, want: [] },
    {
      given: { mode: 'Running', until: 'soon' },
      want: ['until: Invalid value: "soon": until in body must be of type date-time: "soon"'],
    },
    {
      given: { mode: 'Running', until: '2030-02-30T00:00:00Z' },
      want: [
        'until: Invalid value: "2030-02-30T00:00:00Z": until in body must be of type date-time: "2030-02-30T00:00:00Z"',
      ],
    },
    { given: { mode: 'Running', until: '2030-02-28T00:00:00.5+01:00' }, want: [] },
    {
      given: { mode: 'Running', tags: ['A', 'b', 'c'] },
      want: [
        'tags: Too many: 3: must have at most 2 items',
        'tags[0]: Invalid value: "A": tags[0] in body should match \'^[a-z]+$\'',
      ],
    },
    {
      given: { mode: 'Running', labels: { a: 1 } },
      want: ['labels.a: Invalid value: "integer": labels.a in body must be of type string: "integer"'],
    },
  ];
  for (const { given, want } of cases) {
    test(JSON.stringify(given), () => {
      assert.deepEqual(
        validate(given, spec).map(({ field, message }) => `${field}: ${message}`),
        want,
      );
    });
  }

  test('combinations count how many parts hold', () => {
    const number: Schema = { minimum: 5 };
    const even: Schema = { multipleOf: 2 };
    assert.equal(validate(6, { allOf: [number, even] }).length, 0);
    assert.equal(validate(3, { anyOf: [number, even] }).length, 2, 'and why the nearest one does not hold');
    assert.equal(validate(6, { oneOf: [number, even] }).length, 1);
    assert.equal(validate(7, { oneOf: [number, even] }).length, 0);
    assert.equal(validate(7, { not: number }).length, 1);
  });

  test('any value against any part of the schema is answered, never thrown', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(validate(value, spec))));
  });
});
