import { area } from '../harness/case.ts';
import { at, type JsonRecord } from '../harness/json.ts';
import {
  type CrdOptions,
  conditionOf,
  crd,
  crds,
  define,
  established,
  groupOf,
  names,
  pathsOf,
  served,
  verdict,
  widget,
} from './objects.ts';

const object = (properties: JsonRecord, more: JsonRecord = {}): JsonRecord => ({
  type: 'object',
  properties,
  ...more,
});
const spec = (properties: JsonRecord, more: JsonRecord = {}): JsonRecord =>
  object({ spec: object(properties, more) });
/** Without managed times, which come and go with the real server's controllers. */
const definition = (body: unknown): unknown =>
  at(body, 'kind') === 'Status' ? body : { spec: at(body, 'spec'), status: at(body, 'status') };

export const definitionCases = area('definitions', (add) => {
  add('a definition gets its defaults', async (s) => {
    await s.post(crds, crd(s), { show: definition });
    s.afterwards(() => s.prepare('DELETE', `${crds}/widgets.${groupOf(s)}`));
    await established(s, `widgets.${groupOf(s)}`);
    await s.get(`${crds}/widgets.${groupOf(s)}`, { show: definition });
  });

  const wrong: Readonly<Record<string, (draft: JsonRecord) => unknown>> = {
    'a name that is not plural.group': (draft) => ({ ...draft, metadata: { name: 'other' } }),
    'no group': (draft) => edit(draft, { group: undefined }),
    'a group that is none': (draft) => edit(draft, { group: 'UPPER' }),
    'no scope': (draft) => edit(draft, { scope: undefined }),
    'an unknown scope': (draft) => edit(draft, { scope: 'World' }),
    'no versions': (draft) => edit(draft, { versions: [] }),
    'no names': (draft) => edit(draft, { names: undefined }),
    'no kind': (draft) => edit(draft, { names: { plural: 'widgets' } }),
    'a plural with a capital': (draft) => edit(draft, { names: { plural: 'Widgets', kind: 'Widget' } }),
    'a kind in lower case is allowed': (draft) =>
      edit(draft, { names: { plural: 'widgets', kind: 'widget' } }),
    'a kind with a dash in front': (draft) => edit(draft, { names: { plural: 'widgets', kind: '-Widget' } }),
    'two versions of one name': (draft) =>
      edit(draft, { versions: [1, 2].map((n) => version({ storage: n === 1 })) }),
    'two storage versions': (draft) =>
      edit(draft, { versions: ['v1', 'v2'].map((name) => version({ name })) }),
    'no storage version': (draft) => edit(draft, { versions: [version({ storage: false })] }),
    'a version with a bad name': (draft) => edit(draft, { versions: [version({ name: 'V1' })] }),
    'a version without a schema': (draft) => edit(draft, { versions: [version({ schema: undefined })] }),
    preserveUnknownFields: (draft) => edit(draft, { preserveUnknownFields: true }),
    'a conversion by webhook without one': (draft) => edit(draft, { conversion: { strategy: 'Webhook' } }),
    'an unknown conversion': (draft) => edit(draft, { conversion: { strategy: 'Magic' } }),
    'a printer column without a path': (draft) =>
      edit(draft, { versions: [version({ additionalPrinterColumns: [{ name: 'X', type: 'string' }] })] }),
    'a printer column of an unknown type': (draft) =>
      edit(draft, {
        versions: [
          version({ additionalPrinterColumns: [{ name: 'X', type: 'nonsense', jsonPath: '.spec.x' }] }),
        ],
      }),
    'a printer column with a bad path': (draft) =>
      edit(draft, {
        versions: [
          version({ additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: 'spec.x' }] }),
        ],
      }),
    'a scale without its paths': (draft) =>
      edit(draft, { versions: [version({ subresources: { scale: {} } })] }),
    'a scale with a path outside spec': (draft) =>
      edit(draft, {
        versions: [
          version({
            subresources: {
              scale: { specReplicasPath: '.status.replicas', statusReplicasPath: '.status.replicas' },
            },
          }),
        ],
      }),
    'a version that is not served but stored': (draft) =>
      edit(draft, { versions: [version({ served: false })] }),
    'a deprecation warning without deprecation': (draft) =>
      edit(draft, { versions: [version({ deprecationWarning: 'x' })] }),
    'a selectable field that is not in the schema': (draft) =>
      edit(draft, { versions: [version({ selectableFields: [{ jsonPath: '.spec.color' }] })] }),
  };
  for (const [what, change] of Object.entries(wrong)) {
    add(
      `${what}`,
      async (s) => {
        await s.post(crds, change(crd(s)), { show: verdict });
        s.afterwards(() => s.prepare('DELETE', `${crds}/widgets.${groupOf(s)}`));
      },
      { namespace: 'none' },
    );
  }
  add(
    'a protected group needs an annotation',
    async (s) => {
      const draft = crd(s) as { metadata: JsonRecord; spec: JsonRecord };
      draft.spec.group = `${s.id}.k8s.io`;
      draft.metadata.name = `widgets.${s.id}.k8s.io`;
      await s.post(crds, draft, { show: verdict });
    },
    { namespace: 'none' },
  );

  const schemas: Readonly<Record<string, JsonRecord>> = {
    'no type at the root': { properties: { spec: { type: 'object' } } },
    'a root that is a text': { type: 'string' },
    'a property without a type': object({ spec: {} }),
    'a nested property without a type': spec({ a: { properties: { b: { type: 'string' } } } }),
    'an array without items': spec({ a: { type: 'array' } }),
    'an array with a list of items': spec({ a: { type: 'array', items: [{ type: 'string' }] } }),
    'an unknown type': spec({ a: { type: 'text' } }),
    'a type that is null': spec({ a: { type: 'null' } }),
    'additionalProperties beside properties': spec({
      a: { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
    }),
    'additionalProperties that are false': spec({ a: { type: 'object', additionalProperties: false } }),
    'additionalProperties that are true': spec({ a: { type: 'object', additionalProperties: true } }),
    uniqueItems: spec({ a: { type: 'array', items: { type: 'string' }, uniqueItems: true } }),
    'a type inside anyOf': spec({ a: { type: 'string', anyOf: [{ type: 'string' }] } }),
    'a default inside anyOf': spec({ a: { type: 'string', anyOf: [{ default: 'x' }] } }),
    'a property only inside anyOf': spec({
      a: { type: 'object', anyOf: [{ properties: { b: { minLength: 1 } } }] },
    }),
    'a reference': spec({ a: { $ref: '#/definitions/x' } }),
    'a definition': { ...spec({}), definitions: { x: { type: 'string' } } },
    'a pattern that is no expression': spec({ a: { type: 'string', pattern: '(' } }),
    'a default that does not fit': spec({ a: { type: 'integer', default: 'x' } }),
    'a default with unknown fields': spec({ a: { type: 'object', default: { b: 1 }, properties: {} } }),
    'a default below a minimum': spec({ a: { type: 'integer', minimum: 5, default: 1 } }),
    'a default that is null': spec({ a: { type: 'string', default: null } }),
    'a nullable default': spec({ a: { type: 'string', nullable: true, default: null } }),
    'rules for metadata': object({
      metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } },
    }),
    'other rules for metadata': object({
      metadata: { type: 'object', properties: { labels: { type: 'object' } } },
    }),
    'int-or-string with a type': spec({ a: { type: 'string', 'x-kubernetes-int-or-string': true } }),
    'an unknown list type': spec({
      a: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'nonsense' },
    }),
    'a list map without keys': spec({
      a: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
    }),
    'a list map whose key is no property': spec({
      a: {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    }),
    'a list map whose key may be absent': spec({
      a: {
        type: 'array',
        items: object({ name: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    }),
    'keys without a list map': spec({
      a: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-map-keys': ['name'] },
    }),
    'a set of objects': spec({
      a: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
    }),
    'a list type of no list': spec({ a: { type: 'string', 'x-kubernetes-list-type': 'set' } }),
    'an unknown map type': spec({ a: { type: 'object', 'x-kubernetes-map-type': 'nonsense' } }),
    'preserve-unknown-fields that is false': spec({
      a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    }),
    'an embedded resource without properties': spec({
      a: { type: 'object', 'x-kubernetes-embedded-resource': true },
    }),
    'an unknown keyword': spec({ a: { type: 'string', nonsense: 1 } }),
    'an unknown extension': spec({ a: { type: 'string', 'x-nonsense': 1 } }),
    'a minimum of a text': spec({ a: { type: 'string', minimum: 'x' } }),
    'a negative maxLength': spec({ a: { type: 'string', maxLength: -1 } }),
    'required that is no list': spec({}, { required: 'a' }),
    'a required field that is not there is allowed': spec({}, { required: ['nosuch'] }),
    'deep nesting': spec({
      a: Array.from({ length: 30 }).reduce<JsonRecord>((inner) => object({ a: inner }), { type: 'string' }),
    }),
  };
  for (const [what, schema] of Object.entries(schemas)) {
    add(
      `a schema with ${what}`,
      async (s) => {
        await s.post(crds, crd(s, { schema }), { show: verdict });
        s.afterwards(() => s.prepare('DELETE', `${crds}/widgets.${groupOf(s)}`));
      },
      { namespace: 'none' },
    );
  }

  add(
    'what is fixed about a definition',
    async (s) => {
      await define(s);
      const path = `${crds}/widgets.${groupOf(s)}`;
      await s.patch('merge', path, { spec: { scope: 'Cluster' } }, { show: verdict });
      await s.patch('merge', path, { spec: { group: 'other.example.com' } }, { show: verdict });
      await s.patch('merge', path, { spec: { names: { plural: 'others' } } }, { show: verdict });
      await s.patch('merge', path, { spec: { names: { kind: 'Other' } } }, { show: verdict });
      await s.patch(
        'merge',
        path,
        { spec: { names: { shortNames: ['wd'] } } },
        { show: (body) => at(body, 'spec', 'names') },
      );
    },
    { namespace: 'none' },
  );
  add(
    'names that another definition has',
    async (s) => {
      await define(s);
      const second = crd(s, {
        plural: 'gadgets',
        kind: 'Widget',
        more: { names: { plural: 'gadgets', kind: 'Widget', singular: 'gadget' } },
      });
      await s.prepare('POST', crds, second);
      s.afterwards(() => s.prepare('DELETE', `${crds}/gadgets.${groupOf(s)}`));
      await s.settled(
        `${crds}/gadgets.${groupOf(s)}`,
        (found) => conditionOf(found, 'Established') !== undefined,
      );
      await s.get(`${crds}/gadgets.${groupOf(s)}`, { show: (body) => at(body, 'status') });
      await s.get(pathsOf(s, { plural: 'gadgets' }).all);
    },
    { namespace: 'none' },
  );
  add('a definition goes with its objects', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a'));
    const name = `widgets.${groupOf(s)}`;
    await s.delete(`${crds}/${name}`, undefined, { show: verdict });
    await s.gone(`${crds}/${name}`);
    await s.prepare('POST', crds, crd(s));
    await established(s, name);
    await served(s, path);
    await s.get(path, { show: names });
  });
  add('an object with a finalizer holds its definition back', async (s) => {
    const path = await define(s);
    const name = `${crds}/widgets.${groupOf(s)}`;
    await s.prepare('POST', path, widget(s, 'a', {}, { finalizers: ['example.com/wait'] }));
    await s.prepare('DELETE', name);
    await s.settled(`${path}/a`, (found) => at(found, 'metadata', 'deletionTimestamp') !== undefined);
    await s.get(name, {
      show: (body) => ({
        finalizers: at(body, 'metadata', 'finalizers'),
        types: (at(body, 'status', 'conditions') as JsonRecord[]).map(({ type, status, reason }) => [
          type,
          status,
          reason,
        ]),
      }),
    });
    await s.post(path, widget(s, 'b'));
    await s.prepare(
      'PATCH',
      `${path}/a`,
      { metadata: { finalizers: null } },
      { 'content-type': 'application/merge-patch+json' },
    );
    await s.gone(name);
  });
  add('a kind of the cluster', async (s) => {
    const path = await define(s, { scope: 'Cluster' });
    await s.post(path, widget(s, 'a'));
    await s.post(path, widget(s, 'b', {}, { namespace: 'default' }));
    await s.get(path, { show: names });
    await s.get(pathsOf(s).inNamespace);
  });

  const twoVersions: CrdOptions = {
    more: {
      versions: [
        version({ name: 'v1', schema: { openAPIV3Schema: spec({ a: { type: 'string' } }) } }),
        version({
          name: 'v2',
          storage: false,
          schema: { openAPIV3Schema: spec({ a: { type: 'string' }, b: { type: 'string' } }) },
        }),
        version({ name: 'v0', storage: false, served: false, schema: { openAPIV3Schema: spec({}) } }),
        version({
          name: 'v1beta1',
          storage: false,
          deprecated: true,
          schema: { openAPIV3Schema: spec({ a: { type: 'string' } }) },
        }),
        version({
          name: 'v1alpha1',
          storage: false,
          deprecated: true,
          deprecationWarning: 'leave it',
          schema: { openAPIV3Schema: spec({ a: { type: 'string' } }) },
        }),
      ],
    },
  };
  add('several versions of one kind', async (s) => {
    const path = await define(s, twoVersions);
    const in2 = pathsOf(s, {}, 'v2').inNamespace;
    await s.post(path, widget(s, 'a', { spec: { a: '1', b: '2' } }));
    await s.get(`${in2}/a`);
    await s.get(in2);
    await s.post(in2, { ...widget(s, 'b', { spec: { a: '1', b: '2' } }), apiVersion: `${groupOf(s)}/v2` });
    await s.get(`${path}/b`);
    await s.patch('merge', `${in2}/a`, { spec: { b: '3' } });
    await s.get(pathsOf(s, {}, 'v0').inNamespace);
    await s.get(pathsOf(s, {}, 'v1beta1').inNamespace, { show: names });
    await s.get(pathsOf(s, {}, 'v1alpha1').inNamespace, { show: names });
    await s.get(`${crds}/widgets.${groupOf(s)}`, { show: (body) => at(body, 'status', 'storedVersions') });
  });
  add('versions in the order of their age', async (s) => {
    await define(s, twoVersions);
    await s.get(`/apis/${groupOf(s)}`);
  });
  add('a storage version that changes is remembered', async (s) => {
    await define(s, twoVersions);
    const path = `${crds}/widgets.${groupOf(s)}`;
    const found = (await s.peek(path)) as { spec: { versions: JsonRecord[] } };
    const versions = found.spec.versions.map((one): JsonRecord => ({ ...one, storage: one.name === 'v2' }));
    await s.patch(
      'merge',
      path,
      { spec: { versions } },
      { show: (body) => at(body, 'status', 'storedVersions') ?? body },
    );
    const without = versions.filter(({ name }) => name !== 'v1');
    await s.patch('merge', path, { spec: { versions: without } }, { show: verdict });
    await s.patch(
      'merge',
      `${path}/status`,
      { status: { storedVersions: ['v2'] } },
      { show: (body) => at(body, 'status', 'storedVersions') ?? body },
    );
    await s.patch('merge', path, { spec: { versions: without } }, { show: verdict });
  });
  add('selectable fields', async (s) => {
    const path = await define(s, {
      schema: spec({ color: { type: 'string' }, n: { type: 'integer' } }),
      version: { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.n' }] },
    });
    await s.prepare('POST', path, widget(s, 'a', { spec: { color: 'red', n: 1 } }));
    await s.prepare('POST', path, widget(s, 'b', { spec: { color: 'blue' } }));
    for (const fieldSelector of [
      'spec.color=red',
      'spec.color!=red',
      'spec.n=1',
      'spec.color=',
      'spec.other=x',
      'metadata.name=b,spec.color=blue',
    ]) {
      await s.get(path, { query: { fieldSelector }, show: names });
    }
  });
  add('discovery of a definition', async (s) => {
    await define(s, {
      more: {
        names: {
          plural: 'widgets',
          kind: 'Widget',
          shortNames: ['wd'],
          categories: ['all'],
          singular: 'widget',
          listKind: 'WidgetList',
        },
      },
      version: {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
      schema: object({
        spec: object({ replicas: { type: 'integer' } }),
        status: object({ replicas: { type: 'integer' } }),
      }),
    });
    await s.get(`/apis/${groupOf(s)}`);
    await s.get(`/apis/${groupOf(s)}/v1`, {
      show: (body) => ({
        ...(body as object),
        resources: (at(body, 'resources') as JsonRecord[])
          .map((one): JsonRecord => ({ ...one, storageVersionHash: undefined }))
          .sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
      }),
    });
    await s.get(`/apis/${groupOf(s)}/v2`);
  });
});

function version(fields: JsonRecord): JsonRecord {
  return {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object' } },
    ...fields,
  };
}

function edit(draft: JsonRecord, fields: JsonRecord): JsonRecord {
  return { ...draft, spec: { ...(draft.spec as object), ...fields } };
}

export const schemaCases = area('schemas', (add) => {
  const checks: Readonly<Record<string, readonly [schema: JsonRecord, ...values: unknown[]]>> = {
    'a text': [{ type: 'string' }, 'x', 1, true, null, {}, []],
    'an integer': [{ type: 'integer' }, 1, 1.5, '1', -0, 1e3, 9007199254740991],
    'a number': [{ type: 'number' }, 1, 1.5, '1', false],
    'a boolean': [{ type: 'boolean' }, true, 'true', 0],
    'a list': [{ type: 'array', items: { type: 'string' } }, [], ['a'], [1], 'a', {}],
    'an object': [
      { type: 'object', properties: { b: { type: 'string' } } },
      {},
      { b: 'x' },
      { b: 1 },
      [],
      'x',
    ],
    'a map': [{ type: 'object', additionalProperties: { type: 'integer' } }, { x: 1 }, { x: 'y' }, {}],
    'a nullable text': [{ type: 'string', nullable: true }, null, 'x', 1],
    'minLength and maxLength': [
      { type: 'string', minLength: 2, maxLength: 3 },
      'a',
      'ab',
      'abcd',
      'äö',
      '😀',
    ],
    pattern: [{ type: 'string', pattern: '^a+$' }, 'a', 'b', 'xaay'],
    enum: [{ type: 'string', enum: ['a', 'b'] }, 'a', 'c'],
    'an enum of numbers': [{ type: 'integer', enum: [1, 2] }, 1, 3],
    minimum: [{ type: 'integer', minimum: 1 }, 0, 1],
    'exclusive minimum': [{ type: 'integer', minimum: 1, exclusiveMinimum: true }, 1, 2],
    maximum: [{ type: 'number', maximum: 1.5 }, 1.5, 1.6],
    'exclusive maximum': [{ type: 'number', maximum: 1.5, exclusiveMaximum: true }, 1.5],
    multipleOf: [{ type: 'integer', multipleOf: 3 }, 3, 4],
    'minItems and maxItems': [
      { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 2 },
      [],
      [1],
      [1, 2, 3],
    ],
    'minProperties and maxProperties': [
      { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1, maxProperties: 1 },
      {},
      { a: 'b' },
      { a: 'b', c: 'd' },
    ],
    required: [
      { type: 'object', required: ['b', 'c'], properties: { b: { type: 'string' }, c: { type: 'string' } } },
      {},
      { b: 'x' },
      { b: 'x', c: 'y' },
    ],
    'format date-time': [{ type: 'string', format: 'date-time' }, '2020-01-01T00:00:00Z', 'x'],
    'format date': [{ type: 'string', format: 'date' }, '2020-01-01', '2020-13-01'],
    'format ipv4': [{ type: 'string', format: 'ipv4' }, '1.2.3.4', '1.2.3'],
    'format email': [{ type: 'string', format: 'email' }, 'a@example.com', 'a'],
    'format uuid': [{ type: 'string', format: 'uuid' }, 'e0d5b1d2-0000-4000-8000-000000000000', 'x'],
    'format byte': [{ type: 'string', format: 'byte' }, 'YQ==', '!'],
    'format uri': [{ type: 'string', format: 'uri' }, 'http://example.com/x', 'not a uri'],
    'format hostname': [{ type: 'string', format: 'hostname' }, 'a.example.com', '_bad_'],
    'format duration': [{ type: 'string', format: 'duration' }, '5m', 'x'],
    'format cidr': [{ type: 'string', format: 'cidr' }, '10.0.0.0/8', '10.0.0.0'],
    'format int32 and int64': [
      {
        type: 'object',
        properties: { a: { type: 'integer', format: 'int32' }, b: { type: 'integer', format: 'int64' } },
      },
      { a: 2147483647 },
      { a: 2147483648 },
      { b: 2147483648 },
    ],
    'an unknown format': [{ type: 'string', format: 'nonsense' }, 'x'],
    'int-or-string': [{ 'x-kubernetes-int-or-string': true }, 1, '1', true, 1.5],
    anyOf: [{ type: 'integer', anyOf: [{ minimum: 10 }, { maximum: 1 }] }, 0, 5, 11],
    allOf: [{ type: 'integer', allOf: [{ minimum: 1 }, { maximum: 3 }] }, 0, 2, 4],
    oneOf: [{ type: 'integer', oneOf: [{ minimum: 5 }, { maximum: 7 }] }, 4, 6],
    not: [{ type: 'integer', not: { enum: [3] } }, 3, 4],
    'a set': [
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ['a', 'b'],
      ['a', 'a'],
    ],
    'a list map': [
      {
        type: 'array',
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, v: { type: 'integer' } },
        },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      [{ name: 'a' }, { name: 'b' }],
      [
        { name: 'a', v: 1 },
        { name: 'a', v: 2 },
      ],
      [{ v: 1 }],
    ],
    'an embedded resource': [
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { a: 1 } },
      { spec: {} },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'BAD NAME' } },
      { apiVersion: 'a/b/c', kind: 'Pod' },
    ],
    'several problems at once': [
      {
        type: 'object',
        required: ['c'],
        properties: {
          a: { type: 'integer', minimum: 5 },
          b: { type: 'string', enum: ['x'] },
          c: { type: 'string' },
        },
      },
      { a: 1, b: 'y' },
    ],
    'problems inside a list': [
      { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', maximum: 1 } } } },
      [{ n: 0 }, { n: 2 }, { n: 'x' }],
    ],
  };
  for (const [what, [schema, ...values]] of Object.entries(checks)) {
    add(`${what}`, async (s) => {
      const path = await define(s, { schema: spec({ a: schema }) });
      for (const [index, value] of values.entries()) {
        await s.post(path, widget(s, `n${index}`, { spec: { a: value } }), {
          show: (body) => (at(body, 'kind') === 'Status' ? body : at(body, 'spec')),
        });
      }
    });
  }
  add('unknown fields are pruned', async (s) => {
    const path = await define(s, {
      schema: object({
        spec: object({
          a: { type: 'string' },
          list: { type: 'array', items: object({ x: { type: 'string' } }) },
          free: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            properties: { deep: object({ y: { type: 'string' } }) },
          },
          map: { type: 'object', additionalProperties: object({ z: { type: 'string' } }) },
        }),
      }),
    });
    await s.post(
      path,
      widget(s, 'a', {
        unknown: 1,
        spec: {
          a: 'x',
          b: 'y',
          list: [{ x: '1', q: 2 }],
          free: { any: { thing: 1 }, deep: { y: '1', q: 2 } },
          map: { k: { z: '1', q: 2 } },
        },
      }),
    );
    await s.patch('merge', `${path}/a`, { spec: { other: 1 }, other: 2 });
  });
  add('defaults are filled in', async (s) => {
    const path = await define(s, {
      schema: object({
        spec: {
          ...object({
            a: { type: 'string', default: 'x' },
            o: { ...object({ p: { type: 'integer', default: 3 } }), default: {} },
            q: object({ r: { type: 'string', default: 'deep' } }),
            list: { type: 'array', items: object({ v: { type: 'integer', default: 7 } }) },
          }),
          default: {},
        },
      }),
    });
    await s.post(path, widget(s, 'a'));
    await s.post(path, widget(s, 'b', { spec: { q: {}, list: [{}, { v: 1 }], a: null } }));
    await s.post(path, widget(s, 'c', { spec: null }));
    await s.patch('merge', `${path}/b`, { spec: { a: null, list: null } });
  });
  add('defaults appear on old objects when they are read', async (s) => {
    const path = await define(s, { schema: spec({ a: { type: 'string' } }) });
    await s.prepare('POST', path, widget(s, 'a', { spec: {} }));
    const definitionPath = `${crds}/widgets.${groupOf(s)}`;
    await s.prepare(
      'PATCH',
      definitionPath,
      {
        spec: {
          versions: [
            version({ schema: { openAPIV3Schema: spec({ a: { type: 'string', default: 'late' } }) } }),
          ],
        },
      },
      { 'content-type': 'application/merge-patch+json' },
    );
    await s.prepare('POST', path, widget(s, 'probe', { spec: {} }));
    for (let attempt = 0; attempt < 250; attempt++) {
      // The real server takes its time to follow a definition, and tells nobody when it has.
      if (at(await s.peek(`${path}/a`), 'spec', 'a') === 'late') break;
      await new Promise((done) => setTimeout(done, 20));
    }
    await s.get(`${path}/a`);
    await s.get(path, { show: (body) => at(body, 'items', 0, 'spec') });
  });
  add('an update must be valid as a whole, patches too', async (s) => {
    const path = await define(s, {
      schema: spec({ n: { type: 'integer', minimum: 1 } }, { required: ['n'] }),
    });
    await s.prepare('POST', path, widget(s, 'a', { spec: { n: 1 } }));
    await s.patch('merge', `${path}/a`, { spec: { n: 0 } });
    await s.patch('merge', `${path}/a`, { spec: { n: null } });
    await s.patch('json', `${path}/a`, [{ op: 'remove', path: '/spec' }]);
    await s.patch('json', `${path}/a`, [{ op: 'remove', path: '/spec/n' }]);
  });
  add('what was invalid before and is unchanged may stay', async (s) => {
    const path = await define(s, { schema: spec({ n: { type: 'integer' }, m: { type: 'string' } }) });
    await s.prepare('POST', path, widget(s, 'a', { spec: { n: 5 } }));
    await s.prepare(
      'PATCH',
      `${crds}/widgets.${groupOf(s)}`,
      {
        spec: {
          versions: [
            version({
              schema: {
                openAPIV3Schema: spec({ n: { type: 'integer', maximum: 1 }, m: { type: 'string' } }),
              },
            }),
          ],
        },
      },
      { 'content-type': 'application/merge-patch+json' },
    );
    for (let attempt = 0; attempt < 250; attempt++) {
      const probe = await s
        .prepare('POST', `${path}?dryRun=All`, widget(s, 'probe', { spec: { n: 5 } }))
        .catch(() => undefined);
      if (probe === undefined) break;
      await new Promise((done) => setTimeout(done, 20)); // as above: nothing tells when a schema is in force
    }
    await s.patch('merge', `${path}/a`, { spec: { m: 'x' } });
    await s.patch('merge', `${path}/a`, { spec: { n: 6 } });
  });
  add('an object of a strange shape', async (s) => {
    const path = await define(s, { schema: spec({}) });
    await s.post(path, { ...widget(s, 'a'), kind: 'Other' });
    await s.post(path, { ...widget(s, 'a'), apiVersion: 'example.com/v9' });
    await s.post(path, { metadata: { name: 'a' } });
    await s.post(path, widget(s, 'A'));
    await s.post(path, widget(s, 'a', { spec: 'x' }));
  });
});

export const ruleCases = area('rules', (add) => {
  type Rule = JsonRecord;
  const rules = (...all: Rule[]) => ({ 'x-kubernetes-validations': all });
  const rule = (text: string, more: JsonRecord = {}) => ({ rule: text, ...more });

  const checks: Readonly<Record<string, readonly [schema: JsonRecord, ...values: unknown[]]>> = {
    'a rule with a message': [
      { type: 'integer', ...rules(rule('self > 1', { message: 'more than one please' })) },
      1,
      2,
    ],
    'a rule without a message': [{ type: 'integer', ...rules(rule('self > 1')) }, 1],
    'a rule over two fields': [
      {
        ...object({ min: { type: 'integer' }, max: { type: 'integer' } }),
        ...rules(rule('self.min <= self.max')),
      },
      { min: 1, max: 2 },
      { min: 3, max: 2 },
      { min: 3 },
    ],
    'a rule that looks whether a field is there': [
      {
        ...object({ a: { type: 'string' }, b: { type: 'string' } }),
        ...rules(rule('has(self.a) != has(self.b)', { message: 'one of a and b' })),
      },
      { a: 'x' },
      {},
      { a: 'x', b: 'y' },
    ],
    'a message expression': [
      {
        type: 'string',
        maxLength: 10,
        ...rules(rule('self != "x"', { messageExpression: '"not this: " + self' })),
      },
      'x',
    ],
    'a message expression beside a message': [
      {
        type: 'string',
        maxLength: 10,
        ...rules(rule('self != "x"', { message: 'no', messageExpression: '"not this: " + self' })),
      },
      'x',
    ],
    'a message expression that gives nothing': [
      {
        type: 'string',
        maxLength: 10,
        ...rules(rule('self != "x"', { message: 'no', messageExpression: '""' })),
      },
      'x',
    ],
    'a reason and a field path': [
      {
        ...object({ a: { type: 'integer' } }),
        ...rules(rule('self.a > 0', { reason: 'FieldValueForbidden', fieldPath: '.a', message: 'no' })),
      },
      { a: 0 },
    ],
    'a reason of a missing field': [
      {
        ...object({ a: { type: 'integer' } }),
        ...rules(rule('has(self.a)', { reason: 'FieldValueRequired', fieldPath: '.a' })),
      },
      {},
    ],
    'a reason of a duplicate': [
      { type: 'string', ...rules(rule('self != "x"', { reason: 'FieldValueDuplicate' })) },
      'x',
    ],
    'every element of a list': [
      {
        type: 'array',
        maxItems: 10,
        items: { type: 'string', maxLength: 20, ...rules(rule('self.startsWith("a")')) },
      },
      ['ab', 'b', 'c'],
    ],
    'macros over a list': [
      {
        type: 'array',
        maxItems: 10,
        items: { type: 'integer' },
        ...rules(
          rule(
            'self.all(x, x > 0) && self.exists(x, x == 3) && self.filter(x, x > 1).size() == 1 && self.map(x, x * 2).size() == 2',
          ),
        ),
      },
      [1, 3],
      [1, 2],
    ],
    'functions on texts': [
      {
        type: 'string',
        maxLength: 40,
        ...rules(
          rule('self.matches("^[a-z]+$") && self.size() > 2 && self.contains("b") && !self.endsWith("z")'),
        ),
      },
      'abc',
      'ABC',
      'ab',
    ],
    'texts, split and changed': [
      {
        type: 'string',
        maxLength: 40,
        ...rules(
          rule(
            'self.split(",").size() == 2 && self.lowerAscii() == self && self.trim() == self && self.replace("a", "b").indexOf("b") >= 0',
          ),
        ),
      },
      'a,b',
      'a',
      'A,b',
    ],
    'keys of a map': [
      {
        type: 'object',
        maxProperties: 5,
        additionalProperties: { type: 'integer' },
        ...rules(rule('self.all(k, k.startsWith("x") && self[k] > 0)')),
      },
      { xa: 1 },
      { a: 1 },
      { xb: 0 },
    ],
    'a quantity': [
      { type: 'string', maxLength: 20, ...rules(rule('quantity(self).isGreaterThan(quantity("100Mi"))')) },
      '1Gi',
      '1Mi',
    ],
    'a url': [
      { type: 'string', maxLength: 60, ...rules(rule('isURL(self) && url(self).getScheme() == "https"')) },
      'https://example.com',
      'http://example.com',
      'x',
    ],
    'an ip and a cidr': [
      { type: 'string', maxLength: 60, ...rules(rule('isIP(self) && cidr("10.0.0.0/8").containsIP(self)')) },
      '10.1.2.3',
      '11.1.2.3',
      'x',
    ],
    'list functions': [
      {
        type: 'array',
        maxItems: 10,
        items: { type: 'integer' },
        ...rules(rule('self.isSorted() && self.sum() < 10 && (self.size() == 0 || self.max() < 5)')),
      },
      [1, 2],
      [2, 1],
      [4, 4, 4],
    ],
    'a duration and a time': [
      {
        ...object({ d: { type: 'string', format: 'duration' }, t: { type: 'string', format: 'date-time' } }),
        ...rules(rule('self.d < duration("1h") && self.t > timestamp("2020-01-01T00:00:00Z")')),
      },
      { d: '5m', t: '2021-01-01T00:00:00Z' },
      { d: '2h', t: '2021-01-01T00:00:00Z' },
      { d: '5m', t: '2019-01-01T00:00:00Z' },
    ],
    'int-or-string': [
      { 'x-kubernetes-int-or-string': true, ...rules(rule('type(self) == int ? self > 1 : self == "all"')) },
      2,
      1,
      'all',
      'x',
    ],
    'a number with a fraction': [{ type: 'number', ...rules(rule('self * 2.0 > 3.0')) }, 1.6, 1.4, 1],
    'names that need escaping': [
      {
        ...object({ 'a-b': { type: 'integer' }, namespace: { type: 'string' }, 'x.y': { type: 'string' } }),
        ...rules(rule('self.a__dash__b > 0 && self.__namespace__ == "n" && self.x__dot__y == "q"')),
      },
      { 'a-b': 1, namespace: 'n', 'x.y': 'q' },
      { 'a-b': 0, namespace: 'n', 'x.y': 'q' },
    ],
    optionals: [
      { ...object({ a: { type: 'string' } }), ...rules(rule('self.?a.orValue("none") != "bad"')) },
      {},
      { a: 'bad' },
    ],
    'several rules': [
      { type: 'integer', ...rules(rule('self > 1'), rule('self % 2 == 0', { message: 'even' })) },
      1,
      3,
      4,
    ],
    'a nested rule': [
      {
        ...object({
          o: {
            ...object({ p: { type: 'integer', ...rules(rule('self != 3')) } }),
            ...rules(rule('self.p < 5')),
          },
        }),
      },
      { o: { p: 3 } },
      { o: { p: 6 } },
    ],
    'an enumerated set': [{ type: 'string', maxLength: 10, ...rules(rule('self in ["a", "b"]')) }, 'a', 'c'],
    'an error while it runs': [{ type: 'integer', ...rules(rule('10 / self > 1')) }, 0, 1],
  };
  for (const [what, [schema, ...values]] of Object.entries(checks)) {
    add(`${what}`, async (s) => {
      const path = await define(s, { schema: spec({ a: schema }) });
      for (const [index, value] of values.entries()) {
        await s.post(path, widget(s, `n${index}`, { spec: { a: value } }), { show: verdict });
      }
    });
  }

  add('a value that must not change', async (s) => {
    const path = await define(s, {
      schema: spec({ a: { type: 'string', ...rules(rule('self == oldSelf', { message: 'fixed' })) } }),
    });
    await s.post(path, widget(s, 'a', { spec: { a: 'x' } }), { show: verdict });
    await s.patch('merge', `${path}/a`, { spec: { a: 'y' } });
    await s.patch('merge', `${path}/a`, { spec: { a: 'x' } }, { show: verdict });
    await s.patch('merge', `${path}/a`, { spec: { a: null } }, { show: verdict });
    await s.patch('merge', `${path}/a`, { spec: { a: 'z' } }, { show: verdict });
  });
  add('a rule that may have no old value', async (s) => {
    const path = await define(s, {
      schema: spec({
        a: {
          type: 'integer',
          ...rules(
            rule('oldSelf.hasValue() ? self > oldSelf.value() : self == 1', { optionalOldSelf: true }),
          ),
        },
      }),
    });
    await s.post(path, widget(s, 'a', { spec: { a: 2 } }));
    await s.post(path, widget(s, 'a', { spec: { a: 1 } }), { show: verdict });
    await s.patch('merge', `${path}/a`, { spec: { a: 1 } }, { show: verdict });
    await s.patch('merge', `${path}/a`, { spec: { a: 0 } });
  });
  add('a rule at the root sees the name', async (s) => {
    const path = await define(s, {
      schema: {
        ...spec({}),
        ...rules(rule('self.metadata.name.startsWith("a")', { message: 'begins with a' })),
      },
    });
    await s.post(path, widget(s, 'a'), { show: verdict });
    await s.post(path, widget(s, 'b'));
  });
  add('a status rule holds for the status', async (s) => {
    const path = await define(s, {
      schema: object({
        spec: object({}),
        status: object({ n: { type: 'integer', ...rules(rule('self >= 0')) } }),
      }),
      version: { subresources: { status: {} } },
    });
    await s.prepare('POST', path, widget(s, 'a'));
    await s.patch('merge', `${path}/a/status`, { status: { n: -1 } });
    await s.patch('merge', `${path}/a/status`, { status: { n: 1 } }, { show: verdict });
  });

  const broken: Readonly<Record<string, JsonRecord>> = {
    'does not parse': { type: 'integer', ...rules(rule('self >')) },
    'names what is not there': { ...object({ a: { type: 'integer' } }), ...rules(rule('self.b > 1')) },
    'is not a truth value': { type: 'integer', ...rules(rule('self + 1')) },
    'compares different types': { type: 'integer', ...rules(rule('self == "x"')) },
    'is empty': { type: 'integer', ...rules(rule('')) },
    'calls an unknown function': { type: 'integer', ...rules(rule('nonsense(self)')) },
    'has an unknown reason': { type: 'integer', ...rules(rule('self > 1', { reason: 'Nonsense' })) },
    'has a message with a line break': { type: 'integer', ...rules(rule('self > 1', { message: 'a\nb' })) },
    'has a message expression of the wrong type': {
      type: 'integer',
      ...rules(rule('self > 1', { messageExpression: '1' })),
    },
    'has a message expression that does not parse': {
      type: 'integer',
      ...rules(rule('self > 1', { messageExpression: '"' })),
    },
    'has a field path that is not there': {
      ...object({ a: { type: 'integer' } }),
      ...rules(rule('self.a > 1', { fieldPath: '.b' })),
    },
    'costs too much': {
      type: 'array',
      items: { type: 'array', items: { type: 'string' } },
      ...rules(rule('self.all(x, x.all(y, self.all(z, z.all(w, w == y))))')),
    },
    'has a pattern that is no expression': { type: 'string', ...rules(rule('self.matches("(")')) },
    'uses oldSelf in a list that cannot be matched': {
      type: 'array',
      items: { type: 'string', ...rules(rule('self == oldSelf')) },
    },
  };
  for (const [what, schema] of Object.entries(broken)) {
    add(
      `a rule that ${what}`,
      async (s) => {
        await s.post(crds, crd(s, { schema: spec({ a: schema }) }), { show: verdict });
        s.afterwards(() => s.prepare('DELETE', `${crds}/widgets.${groupOf(s)}`));
      },
      { namespace: 'none' },
    );
  }
});
