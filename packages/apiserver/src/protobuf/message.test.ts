import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { structures } from '../schema/structures/index.gen.ts';
import { readTyped } from '../schema/typed.ts';
import { protobufFields } from './fields.gen.ts';
import type { Fields } from './fields.ts';
import { readMessage } from './message.ts';
import { bytes, double, integer } from './test-wire.ts';

interface Case {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly Buffer[];
  readonly want: unknown;
}

const schema = 'apiextensions.v1.JSONSchemaProps';

const cases: readonly Case[] = [
  {
    name: 'what JSON leaves out is left out',
    type: 'core.v1.Container',
    fields: [bytes(1, 'a'), bytes(2, ''), bytes(5, ''), integer(16, 0), bytes(8)],
    want: { name: 'a', resources: {} },
  },
  {
    name: 'what JSON writes when empty is written',
    type: 'core.v1.ContainerPort',
    fields: [bytes(1, ''), integer(2, 0), integer(3, 0), bytes(4, ''), bytes(5, '')],
    want: { containerPort: 0 },
  },
  {
    name: 'what is behind a pointer is kept although it is empty',
    type: 'core.v1.SecurityContext',
    fields: [integer(2, 0), integer(4, 0)],
    want: { privileged: false, runAsUser: 0 },
  },
  {
    name: 'members of an inlined message stand beside the others',
    type: 'core.v1.Volume',
    fields: [bytes(1, 'v'), bytes(2, bytes(2, bytes(1, 'Memory'), bytes(2, bytes(1, '1Gi'))))],
    want: { name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
  },
  {
    name: 'a map is a list of entries, in which the last of a key counts',
    type: 'core.v1.ConfigMap',
    fields: [
      bytes(2, bytes(1, 'a'), bytes(2, '1')),
      bytes(2, bytes(2, '2'), bytes(1, 'b')),
      bytes(2, bytes(1, 'a'), bytes(2, '3')),
      bytes(2),
      bytes(3, bytes(1, 'x'), bytes(2, Buffer.from([0, 255]))),
    ],
    want: { data: { a: '3', b: '2', '': '' }, binaryData: { x: 'AP8=' } },
  },
  {
    name: 'a map may have lists as values',
    type: 'authorization.v1.SubjectAccessReviewSpec',
    fields: [bytes(5, bytes(1, 'k'), bytes(2, bytes(1, 'a'), bytes(1, ''))), bytes(5, bytes(1, 'none'))],
    want: { extra: { k: ['a', ''], none: [] } },
  },
  {
    name: 'numbers of a list come one by one or packed',
    type: 'core.v1.PodSecurityContext',
    fields: [integer(4, 1), bytes(4, Buffer.from([2, 0x80, 0x01])), bytes(4)],
    want: { supplementalGroups: [1, 2, 128] },
  },
  {
    name: 'negative numbers',
    type: 'scheduling.v1.PriorityClass',
    fields: [integer(2, -5)],
    want: { value: -5 },
  },
  {
    name: 'a message that comes in parts is put together',
    type: 'core.v1.Pod',
    fields: [bytes(1, bytes(1, 'a')), bytes(1, bytes(3, 'n')), bytes(1, bytes(1, 'b'))],
    want: { metadata: { name: 'b', namespace: 'n' } },
  },
  {
    name: 'fields of a newer client are passed over',
    type: 'core.v1.Pod',
    fields: [bytes(900, 'x'), integer(901, 1), bytes(2, bytes(10, 'n'), double(902, 1))],
    want: { spec: { nodeName: 'n' } },
  },
  {
    name: 'a time has seconds; one that was never set is null or absent',
    type: 'core.v1.Pod',
    fields: [
      bytes(1, bytes(8), bytes(9, integer(1, 981_173_106), integer(2, 999_999_999))),
      bytes(3, bytes(2, bytes(3), bytes(4, integer(1, -1))), bytes(7, integer(1, 0))),
    ],
    want: {
      metadata: { deletionTimestamp: '2001-02-03T04:05:06Z' },
      status: {
        conditions: [{ lastProbeTime: null, lastTransitionTime: '1969-12-31T23:59:59Z' }],
        startTime: '1970-01-01T00:00:00Z',
      },
    },
  },
  {
    name: 'a precise time has microseconds',
    type: 'coordination.v1.LeaseSpec',
    fields: [bytes(3, integer(1, 0), integer(2, 678_999)), bytes(4, integer(1, 10), integer(2, -1000))],
    want: { acquireTime: '1970-01-01T00:00:00.000678Z', renewTime: '1970-01-01T00:00:09.999999Z' },
  },
  {
    name: 'a map may have times as values',
    type: 'policy.v1.PodDisruptionBudgetStatus',
    fields: [bytes(2, bytes(1, 'a'), bytes(2, integer(1, 1))), bytes(2, bytes(1, 'b')), integer(3, 0)],
    want: { disruptedPods: { a: '1970-01-01T00:00:01Z', b: null }, disruptionsAllowed: 0 },
  },
  {
    name: 'owners',
    type: 'meta.v1.ObjectMeta',
    fields: [
      bytes(
        13,
        bytes(1, 'Kind'),
        bytes(3, 'name'),
        bytes(4, 'uid'),
        bytes(5, 'v1'),
        integer(6, 1),
        integer(7, 0),
      ),
    ],
    want: {
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Kind',
          name: 'name',
          uid: 'uid',
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
  },
  {
    name: 'a port is a number or a name',
    type: 'core.v1.Service',
    fields: [
      bytes(
        2,
        bytes(1, integer(3, 0), bytes(4, integer(1, 0), integer(2, 80), bytes(3, ''))),
        bytes(1, bytes(4, integer(1, 1), integer(2, 0), bytes(3, 'http'))),
      ),
    ],
    want: {
      spec: {
        ports: [{ port: 0, targetPort: 80 }, { targetPort: 'http' }],
      },
    },
  },
  {
    name: 'JSON inside is JSON outside',
    type: 'meta.v1.ManagedFieldsEntry',
    fields: [bytes(1, 'm'), bytes(7, bytes(1, '{"f:spec":{}}'))],
    want: { manager: 'm', fieldsV1: { 'f:spec': {} } },
  },
  {
    name: 'schemas that are one of several things',
    type: schema,
    fields: [
      bytes(3, '#'),
      bytes(8, bytes(1, '[1,null]')),
      double(9, 0),
      bytes(20, bytes(1, '"a"')),
      bytes(20, bytes(1, 'null')),
      bytes(24, bytes(1, bytes(5, 'string'))),
      bytes(29, bytes(1, 'p'), bytes(2, bytes(24, bytes(2, bytes(5, 'a')), bytes(2, bytes(5, 'b'))))),
      bytes(30, integer(1, 1)),
      bytes(33, integer(1, 1), bytes(2, bytes(5, 'object'))),
      bytes(32, bytes(1, 'd'), bytes(2, bytes(2, 'x'), bytes(2, 'y'))),
      bytes(32, bytes(1, 'e'), bytes(2, bytes(1, bytes(5, 'z')))),
      bytes(34, bytes(1, 'f'), bytes(2, bytes(30, integer(1, 0)))),
      integer(38, 1),
    ],
    want: {
      $ref: '#',
      default: [1, null],
      maximum: 0,
      enum: ['a', null],
      items: { type: 'string' },
      properties: { p: { items: [{ type: 'a' }, { type: 'b' }] } },
      additionalProperties: true,
      additionalItems: { type: 'object' },
      dependencies: { d: ['x', 'y'], e: { type: 'z' } },
      definitions: { f: { additionalProperties: false } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
];

for (const { name, type, fields, want } of cases) {
  test(name, () => assert.deepEqual(readMessage(Buffer.concat(fields), type), want));
}

test('only what was sent is there', () => {
  const object = readMessage(
    Buffer.concat([bytes(1, bytes(1, 'a'), bytes(2, ''), integer(7, 0))]),
    'core.v1.Pod',
  );
  assert.deepEqual(object, { metadata: { name: 'a' } });
});

test('a key may have any name', () => {
  const entry = (key: string) => bytes(2, bytes(1, key), bytes(2, 'v'));
  const { data } = readMessage(
    Buffer.concat([entry('__proto__'), entry('constructor')]),
    'core.v1.ConfigMap',
  );
  assert.deepEqual(Object.entries(data as object), [
    ['__proto__', 'v'],
    ['constructor', 'v'],
  ]);
  assert.equal(Object.getPrototypeOf(data), Object.prototype);
});

const refused: readonly [name: string, type: string, fields: readonly Buffer[], message: RegExp][] = [
  ['a number for a message', 'core.v1.Pod', [integer(2, 1)], /^proto: wrong wireType = 0 for field Spec$/],
  [
    'a text for a number',
    'core.v1.PodSpec',
    [bytes(4, 'x')],
    /^proto: wrong wireType = 2 for field TerminationGracePeriodSeconds$/,
  ],
  [
    'eight bytes for a text',
    'core.v1.PodSpec',
    [double(10, 1)],
    /^proto: wrong wireType = 1 for field NodeName$/,
  ],
  [
    'a number in a time',
    'core.v1.PodStatus',
    [bytes(7, bytes(1, 'x'))],
    /^proto: wrong wireType = 2 for field 1 of Timestamp$/,
  ],
  [
    'an entry that is a number',
    'core.v1.ConfigMap',
    [integer(2, 1)],
    /^proto: wrong wireType = 0 for field Data$/,
  ],
  ['an inlined message that is a number', 'core.v1.Volume', [integer(2, 1)], /^proto: wrong wireType = 0/],
  [
    'JSON that is none',
    'meta.v1.ManagedFieldsEntry',
    [bytes(7, bytes(1, '{'))],
    /^unexpected end of JSON input$/,
  ],
  [
    'a number or name that is neither',
    'core.v1.ServicePort',
    [bytes(4, integer(1, 2))],
    /^impossible IntOrString.Type$/,
  ],
  ['a number JSON has no word for', schema, [double(9, Number.NaN)], /^json: unsupported value: NaN$/],
  ['a time beyond all years', 'core.v1.PodStatus', [bytes(7, integer(1, 2n ** 62n))], /outside of the years/],
];

for (const [name, type, fields, message] of refused) {
  test(`refuses ${name}`, () => {
    assert.throws(() => readMessage(Buffer.concat(fields), type), { code: 'invalid', message });
  });
}

test('nesting is followed to a limit, then refused', () => {
  // Built from the inside out with a fixed head, so that a hundred thousand levels cost no quadratic time.
  const nested = (levels: number) => {
    let message: Buffer = bytes(5, 'object');
    for (let level = 0; level < levels; level++) message = bytes(28, message);
    return message;
  };
  const deep = readMessage(nested(200), schema);
  assert.doesNotThrow(() => JSON.stringify(deep));
  assert.throws(() => readMessage(nested(3_000), schema), {
    code: 'invalid',
    message: 'proto: exceeded max depth',
  });
});

test('every member of every type has one field, and every field a member', () => {
  const names = (fields: Fields): string[] =>
    Object.values(fields as Readonly<Record<string, string | Fields>>).flatMap((field) =>
      typeof field === 'string' ? [field] : names(field),
    );
  for (const [type, { members }] of Object.entries(structures)) {
    const wanted = Object.keys(members).filter((name) => members[name]?.via !== 'TypeMeta');
    assert.deepEqual(names(protobufFields[type] ?? {}).sort(), wanted.sort(), type);
  }
});

const types = Object.keys(structures);

/** Bytes that mean something to a type more often than chance would have it. */
const fieldBytes = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 50 }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
    .map(([number, value]) => integer(number, value)),
  fc
    .tuple(fc.integer({ min: 1, max: 50 }), fc.string({ maxLength: 8 }))
    .map(([number, text]) => bytes(number, text)),
  fc.uint8Array({ maxLength: 8 }).map((given) => Buffer.from(given)),
);
const { message: anyMessage } = fc.letrec<{ message: Buffer }>((tie) => ({
  message: fc
    .array(
      fc.oneof(
        { depthSize: 'small' },
        fieldBytes,
        fc
          .tuple(fc.integer({ min: 1, max: 45 }), tie('message'))
          .map(([number, inside]) => bytes(number, inside)),
      ),
      { maxLength: 4 },
    )
    .map((parts) => Buffer.concat(parts)),
}));

test('any bytes are an object of the type or refused, and what is read can be read again', () => {
  fc.assert(
    fc.property(anyMessage, fc.constantFrom(...types), (message, type) => {
      let object: ReturnType<typeof readMessage>;
      try {
        object = readMessage(message, type);
      } catch (err) {
        assert.ok(isFault(err, 'invalid'), String(err));
        return;
      }
      assert.deepEqual(JSON.parse(JSON.stringify(object)), object);
      try {
        readTyped(object, type);
      } catch (err) {
        assert.ok(isFault(err, 'invalid'), String(err));
        // All else has the right type already.
        assert.match(err.message, /quantit|into Go value of type int32|parsing time/);
      }
    }),
    { numRuns: 3_000 },
  );
});
