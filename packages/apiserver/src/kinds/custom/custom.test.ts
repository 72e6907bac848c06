import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject } from '../kind.ts';
import { created, kindCalled, problemsOf, updated } from '../test-kinds.ts';
import { webhookConversion } from './conversion.ts';
import type { Definition } from './definition.ts';
import { kindsOf } from './kinds.ts';
import { decideNames } from './lifecycle.ts';

const definitions = kindCalled('CustomResourceDefinition');

function aDefinition(schema: object, version: object = {}, spec: object = {}): object {
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
      ...spec,
    },
  };
}

function object(properties: object, more: object = {}): object {
  return { type: 'object', properties, ...more };
}

const schemaPath = 'spec.validation.openAPIV3Schema';

describe('a definition', () => {
  test('gets its names, no conversion and a status that promises nothing', () => {
    const { spec, status } = created(definitions, aDefinition(object({}))) as Definition;
    assert.deepEqual(spec.names, {
      plural: 'widgets',
      kind: 'Widget',
      singular: 'widget',
      listKind: 'WidgetList',
    });
    assert.deepEqual(spec.conversion, { strategy: 'None' });
    assert.deepEqual(status, {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
  });

  const cases: { name: string; body: object; want: string[] }[] = [
    {
      name: 'is called after what it defines',
      body: { ...aDefinition(object({})), metadata: { name: 'x' } },
      want: ['metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group'],
    },
    {
      name: 'has a schema',
      body: aDefinition(object({}), { schema: undefined }),
      want: ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    },
    {
      name: 'says the type of everything',
      body: aDefinition(object({ a: {}, b: { type: 'array' }, c: { type: 'array', items: {} } })),
      want: [
        `${schemaPath}.properties[a].type: Required value: must not be empty for specified object fields`,
        `${schemaPath}.properties[b].items: Required value: must be specified`,
        `${schemaPath}.properties[c].items.type: Required value: must not be empty for specified array items`,
      ],
    },
    {
      name: 'says it outside of alternatives',
      body: aDefinition(object({ a: { type: 'string', anyOf: [{ type: 'string' }] } })),
      want: [`${schemaPath}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
    },
    {
      name: 'knows everything its alternatives speak of',
      body: aDefinition(object({}, { oneOf: [{ properties: { x: { minLength: 1 } } }] })),
      want: [
        `${schemaPath}.properties[x]: Required value: because it is defined in ${schemaPath}.oneOf[0].properties[x]`,
      ],
    },
    {
      name: 'may speak of a value that is a number or a text in the old way',
      body: aDefinition(
        object({
          a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        }),
      ),
      want: [],
    },
    {
      name: 'leaves metadata alone',
      body: aDefinition(object({ metadata: object({ labels: { type: 'object' } }) })),
      want: [
        `${schemaPath}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
      ],
    },
    {
      name: 'has defaults that are values',
      body: aDefinition(object({ spec: object({ a: { type: 'string', default: 1 } }) })),
      want: [
        `${schemaPath}.properties[spec].properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"`,
      ],
    },
    {
      name: 'gives a list that is a map keys that are there',
      body: aDefinition(
        object({
          l: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: object({ k: { type: 'string' } }),
          },
        }),
      ),
      want: [
        `${schemaPath}.properties[l].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      ],
    },
    {
      name: 'speaks of each version where they differ',
      body: aDefinition(
        object({}),
        {},
        {
          versions: [
            { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object({}) } },
            { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: object({ a: {} }) } },
          ],
        },
      ),
      want: [
        'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
      ],
    },
    {
      name: 'has rules that compile',
      body: aDefinition(object({ spec: object({}, { 'x-kubernetes-validations': [{ rule: 'self.a' }] }) })),
      want: [
        `${schemaPath}.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.a","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'a'\n | self.a\n | ....^`,
      ],
    },
    {
      name: 'can only select by what is scalar',
      body: aDefinition(object({ spec: object({ o: { type: 'object' } }) }), {
        selectableFields: [{ jsonPath: '.spec.o' }],
      }),
      want: [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    },
    {
      name: 'tells who converts',
      body: aDefinition(object({}), {}, { conversion: { strategy: 'Webhook' } }),
      want: [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    },
  ];
  for (const { name, body, want } of cases) {
    test(name, () =>
      assert.deepEqual(
        problemsOf(() => created(definitions, body)),
        want,
      ),
    );
  }

  test('keeps its scope and kind once it is established, and a version that was stored', () => {
    const made = created(definitions, aDefinition(object({}))) as Definition;
    const conditions = [{ type: 'Established', status: 'True' }];
    const old = { ...made, status: { ...made.status, conditions } } as ApiObject;
    const change = (spec: object) => (current: ApiObject) => ({
      ...current,
      spec: { ...made.spec, ...spec },
    });
    assert.deepEqual(
      problemsOf(() => updated(definitions, old, change({ scope: 'Cluster' }))),
      ['spec.scope: Invalid value: "Cluster": field is immutable'],
    );
    const other = { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: object({}) } };
    assert.deepEqual(
      problemsOf(() => updated(definitions, old, change({ versions: [other] }))),
      [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ],
    );
  });
});

describe('a custom kind', () => {
  const made = created(
    definitions,
    aDefinition(
      object({
        spec: object(
          {
            size: { type: 'integer', default: 3 },
            set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
            inner: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
          { 'x-kubernetes-validations': [{ rule: 'self.size < 10' }] },
        ),
      }),
      { subresources: { status: {} } },
    ),
  ) as Definition;
  const established = {
    ...made,
    status: { ...made.status, conditions: [{ type: 'Established', status: 'True' }] },
  };
  const [kind] = kindsOf(established);
  assert.ok(kind);

  test('is served only when it is established', () => assert.deepEqual(kindsOf({ ...made }), []));

  test('fills in defaults and leaves out what its schema does not have', () => {
    const { spec } = created(kind, { spec: { other: 1 } });
    assert.deepEqual(spec, { size: 3 });
  });

  test('tells what it leaves out, metadata first', () => {
    const body = { metadata: { name: 'a', b: 1 }, zebra: 1, spec: { other: 1 } };
    assert.deepEqual(kind.unknownFields?.(body), ['metadata.b', 'spec.other', 'zebra']);
  });

  test('shows old objects with the defaults of today, and others as they are', () => {
    const bare = created(kind, { spec: {} });
    assert.equal(kind.read?.(bare), bare);
    const old = { ...bare, spec: {} };
    assert.deepEqual(kind.read?.(old).spec, { size: 3 });
    assert.equal(kind.read?.(old), kind.read?.(old));
  });

  const cases: { spec: object; want: string[] }[] = [
    { spec: { size: 20 }, want: ['spec: Invalid value: failed rule: self.size < 10'] },
    { spec: { set: ['a', 'a'] }, want: ['spec.set[1]: Duplicate value: "a"'] },
    {
      spec: { size: 'x' },
      want: [
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    },
    {
      spec: { inner: { kind: '', apiVersion: 'v1' } },
      want: ['spec.inner.kind: Invalid value: "": must not be empty'],
    },
  ];
  for (const { spec, want } of cases) {
    test(`is checked: ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(
        problemsOf(() => created(kind, { spec })),
        want,
      );
    });
  }

  test('an object that was valid once can be changed where it still is', () => {
    const old = { ...created(kind, { spec: {} }), spec: { size: 20, set: ['a'] } };
    assert.deepEqual(
      problemsOf(() =>
        updated(kind, old, (now) => ({ ...now, metadata: { ...now.metadata, labels: { a: 'b' } } })),
      ),
      [],
    );
  });
});

describe('names', () => {
  const taken = { resources: new Set(['gadgets', 'gd']), kinds: new Set(['Gadget']) };
  const cases: { names: object; reason: string; message: string }[] = [
    { names: { plural: 'widgets', kind: 'Widget' }, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      names: { plural: 'gadgets', kind: 'W' },
      reason: 'PluralConflict',
      message: '"gadgets" is already in use',
    },
    { names: { plural: 'w', kind: 'Gadget' }, reason: 'KindConflict', message: '"Gadget" is already in use' },
    {
      names: { plural: 'w', kind: 'W', shortNames: ['gd', 'w'] },
      reason: 'ShortNamesConflict',
      message: '"gd" is already in use',
    },
  ];
  for (const { names, reason, message } of cases) {
    test(`${JSON.stringify(names)} gives ${reason}`, () => {
      const definition = { spec: { names } } as unknown as Definition;
      const { accepted } = decideNames(definition, taken);
      assert.deepEqual([accepted.reason, accepted.message], [reason, message]);
    });
  }
});

describe('a conversion webhook', () => {
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: 'https://a.b' }, conversionReviewVersions: ['v1'] },
  };
  const widget: ApiObject = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', labels: { a: 'b' } },
  };
  type Review = { request: { uid: string; objects: ApiObject[] } };
  const answering = (answer: (review: Review) => object) =>
    webhookConversion(conversion, async (_, body) => ({ response: answer(body as Review) }));
  const success = { status: 'Success' };

  test('makes content, labels and annotations; who the object is stays', async () => {
    const convert = answering(({ request }) => ({
      uid: request.uid,
      result: success,
      convertedObjects: request.objects.map((object) => ({
        ...object,
        apiVersion: 'example.com/v2',
        metadata: { ...object.metadata, resourceVersion: '99', labels: { c: 'd' } },
        spec: { new: true },
      })),
    }));
    const [converted] = (await convert?.([widget], 'example.com/v2')) ?? [];
    assert.deepEqual(converted, {
      ...widget,
      apiVersion: 'example.com/v2',
      metadata: { ...widget.metadata, labels: { c: 'd' } },
      spec: { new: true },
    });
  });

  const failures: { name: string; answer: (review: Review) => object; message: string }[] = [
    {
      name: 'that fails is told with its own words',
      answer: ({ request }) => ({ uid: request.uid, result: { status: 'Failed', message: 'too old' } }),
      message: 'conversion webhook for example.com/v1, Kind=Widget failed: too old',
    },
    {
      name: 'that answers with too few is not believed',
      answer: ({ request }) => ({ uid: request.uid, result: success, convertedObjects: [] }),
      message: 'conversion webhook for example.com/v1, Kind=Widget returned 0 objects, expected 1',
    },
    {
      name: 'that answers with another object is not believed',
      answer: ({ request }) => ({
        uid: request.uid,
        result: success,
        convertedObjects: [{ ...widget, apiVersion: 'example.com/v2', metadata: { name: 'b', uid: 'u' } }],
      }),
      message:
        'conversion webhook for example.com/v1, Kind=Widget returned invalid object: must have the same name: a != b',
    },
  ];
  for (const { name, answer, message } of failures) {
    test(name, async () => {
      const convert = answering(answer);
      await assert.rejects(async () => convert?.([widget], 'example.com/v2'), { message });
    });
  }
});
