/**
 * Random requests that mean something: a few names, a few kinds, bodies that are mostly right and sometimes wrong.
 * A sequence is plain data, so that a failing one can be shrunk, printed and run again.
 */
import fc from 'fast-check';
import type { JsonRecord } from '../harness/json.ts';

const kinds = ['configmaps', 'secrets', 'pods', 'services', 'widgets'] as const;
export type Kind = (typeof kinds)[number];

/** Whose revision a write carries: none, the last one this client saw, or one it saw before. */
type Revision = 'none' | 'last' | 'stale';

interface On {
  readonly kind: Kind;
  readonly name: string;
}

/** A value of a wrong type in one place of a body. Only one: which of several is told is the luck of a decoder. */
export interface Spoil {
  /** The number of the place; counted around. */
  readonly place: number;
  readonly value: unknown;
}

interface Write {
  readonly fields: JsonRecord;
  readonly meta: JsonRecord;
  readonly spoil: Spoil | null;
}

type Query = Readonly<Record<string, string>>;

export type Op =
  | ({ readonly op: 'create'; readonly query: Query } & Write & On)
  | ({ readonly op: 'update'; readonly revision: Revision } & Write & On)
  | ({ readonly op: 'merge'; readonly query: Query; readonly subresource?: 'status' } & Write & On)
  | ({ readonly op: 'json'; readonly patch: readonly JsonRecord[] } & On)
  | ({ readonly op: 'delete'; readonly options: JsonRecord } & On)
  | ({ readonly op: 'get' } & On)
  | { readonly op: 'list'; readonly kind: Kind; readonly query: Query }
  | { readonly op: 'clear'; readonly kind: Kind; readonly query: Query };

export interface Sequence {
  /** Followed from the beginning to the end. */
  readonly watched: Kind;
  readonly selector: string;
  readonly ops: readonly Op[];
}

/** Mostly the one, now and then the other. */
function mostly<T, U>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<U>, weight = 8): fc.Arbitrary<T | U> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

/** Each field may be left out. */
function some(model: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonRecord> {
  return fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<JsonRecord>;
}

const name = fc.constantFrom('a', 'b', 'c');
const word = fc.constantFrom('x', 'y', 'z1', 'long-word');
const bad = fc.constantFrom('', 'Bad Value!', 'UPPER_ok', '-');
const text = mostly(word, bad);
const key = mostly(fc.constantFrom('k', 'l', 'k.2'), fc.constantFrom('bad key', '', 'UPPER_ok'));
const texts = fc.dictionary(key, text, { maxKeys: 3 });
const bytes = fc.dictionary(key, fc.constantFrom('eA==', 'eQ==', ''), { maxKeys: 2 });

const meta = some({
  labels: fc.dictionary(fc.constantFrom('l', 'm', 'example.com/n'), mostly(fc.constantFrom('1', '2'), bad), {
    maxKeys: 2,
  }),
  annotations: fc.dictionary(mostly(fc.constantFrom('l', 'example.com/n'), fc.constant('bad/key/x')), text, {
    maxKeys: 2,
  }),
  finalizers: mostly(fc.subarray(['example.com/f', 'example.com/g']), fc.constantFrom(['bad'], [''])),
});

const port = mostly(fc.constantFrom(80, 81, 8080), fc.constantFrom(0, 70000, -1));
const protocol = mostly(fc.constantFrom('TCP', 'UDP'), bad);
const amounts = some({
  cpu: fc.constantFrom('1', '500m', '0.5', '1e3', 2),
  memory: fc.constantFrom('1', '1Gi', '100M', '-1'),
});
const container = some({
  name: mostly(fc.constantFrom('main', 'other'), bad, 12),
  image: mostly(fc.constantFrom('x', 'x:1', 'example.com/y:latest'), fc.constant('')),
  imagePullPolicy: mostly(fc.constantFrom('Always', 'Never', 'IfNotPresent'), bad),
  command: fc.array(word, { maxLength: 2 }),
  env: fc.array(some({ name: mostly(fc.constantFrom('A', 'B_2'), bad), value: text }), { maxLength: 2 }),
  ports: fc.array(
    some({ name: mostly(fc.constantFrom('http', 'web'), bad), containerPort: port, protocol }),
    { maxLength: 2 },
  ),
  resources: some({ requests: amounts, limits: amounts }),
});
const podSpec = some({
  containers: fc.array(container, { minLength: 1, maxLength: 2 }),
  restartPolicy: mostly(fc.constantFrom('Always', 'Never', 'OnFailure'), bad),
  terminationGracePeriodSeconds: mostly(fc.constantFrom(0, 5), fc.constant(-1)),
  nodeName: mostly(fc.constant('n1'), bad),
  hostname: text,
  volumes: fc.array(some({ name: text, emptyDir: fc.constant({}), configMap: some({ name: word }) }), {
    maxLength: 2,
  }),
  tolerations: fc.array(
    some({
      key: word,
      operator: mostly(fc.constantFrom('Exists', 'Equal'), bad),
      value: word,
      effect: mostly(fc.constant('NoSchedule'), bad),
    }),
    { maxLength: 1 },
  ),
});
const servicePort = some({
  name: mostly(fc.constantFrom('a', 'b'), bad),
  port,
  targetPort: fc.constantFrom<unknown>(80, 'web', 0, 'Bad Value!'),
  protocol,
});
const serviceSpec = some({
  type: mostly(fc.constantFrom('ClusterIP', 'ExternalName'), bad),
  externalName: mostly(fc.constant('x.example.com'), bad),
  clusterIP: mostly(fc.constant('None'), bad),
  ports: fc.array(servicePort, { maxLength: 2 }),
  selector: fc.dictionary(text, text, { maxKeys: 1 }),
  sessionAffinity: mostly(fc.constantFrom('None', 'ClientIP'), bad),
});

/** Fits `widgetSchema` most of the time. */
const widgetSpec = some({
  size: fc.integer({ min: -2, max: 12 }),
  mode: mostly(fc.constantFrom('On', 'Off'), bad),
  name: text,
  tags: fc.array(text, { maxLength: 3 }),
  parts: fc.array(some({ name: text, count: fc.integer({ min: 0, max: 3 }) }), { maxLength: 3 }),
  free: fc.anything({
    maxDepth: 2,
    withNullPrototype: false,
    values: [fc.boolean(), fc.integer({ min: -5, max: 5 }), word, fc.constant(null)],
    key: word,
  }),
  limit: fc.constantFrom<unknown>(5, '5%', 'all'),
  unknown: word,
});

export const widgetSchema: JsonRecord = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 0, maximum: 10 },
        mode: { type: 'string', enum: ['On', 'Off'], default: 'On' },
        name: { type: 'string', minLength: 1, maxLength: 8, pattern: '^[a-z0-9-]+$' },
        tags: {
          type: 'array',
          maxItems: 2,
          items: { type: 'string', maxLength: 20 },
          'x-kubernetes-list-type': 'set',
        },
        parts: {
          type: 'array',
          maxItems: 5,
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', maxLength: 20 }, count: { type: 'integer', default: 1 } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
        limit: { 'x-kubernetes-int-or-string': true },
      },
      'x-kubernetes-validations': [
        {
          rule: "!has(self.size) || self.size != 7 || self.mode == 'Off'",
          message: 'seven is only for those that are off',
        },
        { rule: 'has(self.name) || !has(oldSelf.name)', message: 'a name stays' },
      ],
    },
    status: { type: 'object', properties: { phase: { type: 'string' }, seen: { type: 'integer' } } },
  },
};

const fieldsOf: Readonly<Record<Kind, fc.Arbitrary<JsonRecord>>> = {
  configmaps: some({ data: texts, binaryData: bytes, immutable: fc.boolean() }),
  secrets: some({
    type: mostly(fc.constantFrom('Opaque', 'example.com/t'), bad),
    stringData: texts,
    data: bytes,
    immutable: fc.boolean(),
  }),
  pods: fc.record({ spec: podSpec }) as fc.Arbitrary<JsonRecord>,
  services: fc.record({ spec: serviceSpec }) as fc.Arbitrary<JsonRecord>,
  widgets: some({
    spec: widgetSpec,
    status: some({ phase: word, seen: fc.integer({ min: 0, max: 3 }) }),
    other: word,
  }),
};

const wrong = fc.constantFrom<unknown>(null, 7, -1, 1.5, true, 'Bad Value!', [], {}, ['x'], { k: 'v' });
const spoil = mostly(fc.constant(null), fc.record({ place: fc.nat({ max: 40 }), value: wrong }), 5);

const on = (kind: Kind) => ({ kind: fc.constant(kind), name });
const query = mostly(
  fc.constant<JsonRecord>({}),
  fc.constantFrom<JsonRecord>(
    { dryRun: 'All' },
    { fieldValidation: 'Strict' },
    { fieldValidation: 'Ignore' },
  ),
  3,
);
const selectors = fc.constantFrom('l=1', 'l!=1', 'l', '!l', 'l in (1,2),m', '');
const listQuery = fc.oneof(
  fc.constant({}),
  selectors.map((labelSelector) => ({ labelSelector })),
  fc.constantFrom('metadata.name=a', 'metadata.name!=a').map((fieldSelector) => ({ fieldSelector })),
  fc.constantFrom('1', '2').map((limit) => ({ limit })),
) as fc.Arbitrary<Record<string, string>>;

const pointer = fc.constantFrom(
  '/metadata/labels',
  '/metadata/labels/l',
  '/metadata/finalizers',
  '/metadata/finalizers/-',
  '/metadata/finalizers/0',
  '/data',
  '/data/k',
  '/spec/size',
  '/spec/tags/-',
  '/spec/tags/0',
  '/spec/mode',
  '/spec/containers/0/image',
  '/spec/selector',
  '/nosuch/deep',
  '/metadata/name',
);
const jsonOp = fc.oneof(
  fc.record({
    op: fc.constantFrom('add', 'replace', 'test'),
    path: pointer,
    value: fc.oneof(word, wrong, fc.constant({ l: '2' })),
  }),
  fc.record({ op: fc.constant('remove'), path: pointer }),
  fc.record({ op: fc.constantFrom('copy', 'move'), from: pointer, path: pointer }),
) as fc.Arbitrary<JsonRecord>;

function opOn(kind: Kind): fc.Arbitrary<Op> {
  const fields = fieldsOf[kind];
  const write = { ...on(kind), fields, meta, spoil };
  const create = fc.record({ op: fc.constant('create'), ...write, query });
  const update = fc.record({
    op: fc.constant('update'),
    ...write,
    revision: fc.constantFrom('none', 'last', 'stale'),
  });
  const merge = fc.record({ op: fc.constant('merge'), ...write, query });
  const json = fc.record({ op: fc.constant('json'), ...on(kind), patch: fc.array(jsonOp, { maxLength: 3 }) });
  const status = fc.record({ op: fc.constant('merge'), ...write, query, subresource: fc.constant('status') });
  const options = fc.constantFrom(
    {},
    { propagationPolicy: 'Orphan' },
    { propagationPolicy: 'Background' },
    { gracePeriodSeconds: 0 },
    { gracePeriodSeconds: 5 },
    { preconditions: { uid: 'x' } },
    { dryRun: ['All'] },
    { propagationPolicy: 'Nonsense' },
  );
  const remove = fc.record({ op: fc.constant('delete'), ...on(kind), options });
  const all: { weight: number; arbitrary: fc.Arbitrary<unknown> }[] = [
    { weight: 5, arbitrary: create },
    { weight: 3, arbitrary: update },
    { weight: 3, arbitrary: merge },
    { weight: 2, arbitrary: json },
    { weight: 2, arbitrary: remove },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('get'), ...on(kind) }) },
    {
      weight: 1,
      arbitrary: fc.record({ op: fc.constant('list'), kind: fc.constant(kind), query: listQuery }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constant('clear'),
        kind: fc.constant(kind),
        query: selectors.map((labelSelector) => ({ labelSelector })),
      }),
    },
  ];
  if (kind === 'pods' || kind === 'widgets') all.push({ weight: 2, arbitrary: status });
  return fc.oneof(...all) as fc.Arbitrary<Op>;
}

/** Mostly about one kind, so that writes meet each other. */
export const sequences: fc.Arbitrary<Sequence> = fc
  .tuple(fc.constantFrom(...kinds), fc.constantFrom('', 'l=1'))
  .chain(([watched, selector]) =>
    fc
      .array(mostly(opOn(watched), fc.constantFrom(...kinds).chain(opOn), 5), { minLength: 1, maxLength: 12 })
      .map((ops) => ({ watched, selector, ops })),
  );
