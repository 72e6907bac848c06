import assert from 'node:assert/strict';
import { test } from 'node:test';
import { driftedStructures, missingSources } from './builtin-schemas.ts';
import { parseGoTypes } from './go-types.ts';

const missing = missingSources();

test(
  'the committed structures are those the sources make (node tools/generate/builtin-schemas.ts)',
  { skip: missing ?? false },
  async () => assert.deepEqual(await driftedStructures(), []),
);

test('a Go struct is read with its tags', () => {
  const types = parseGoTypes(
    [
      'type A struct {',
      '\tmetav1.TypeMeta `json:",inline"`',
      '\t// Other *string `json:"other"`',
      '\tName string `json:"name" protobuf:"x"`',
      '\tCount *int32 `json:"count,omitempty"`',
      '\tAt Time `json:"at,omitempty,omitzero"`',
      '\tSecret string `json:"-"`',
      '}',
      'type B A',
    ].join('\n'),
  );
  const field = (name: string, type: string, more: object = {}) => ({
    name,
    type,
    isPointer: false,
    isInline: false,
    isOmittedEmpty: false,
    isOmittedZero: false,
    ...more,
  });
  assert.deepEqual(types.get('A'), [
    field('', 'metav1.TypeMeta', { isInline: true }),
    field('name', 'string'),
    field('count', 'int32', { isPointer: true, isOmittedEmpty: true }),
    field('at', 'Time', { isOmittedEmpty: true, isOmittedZero: true }),
  ]);
  assert.equal(types.get('B'), types.get('A'));
});
