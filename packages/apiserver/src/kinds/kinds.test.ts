import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtinKinds } from './builtin.ts';
import type { ApiObject } from './kind.ts';
import { anObject, aroundOf, created, kindCalled, problemsOf, updated } from './test-kinds.ts';

test('every built-in kind has a structure', () => {
  for (const kind of builtinKinds) assert.ok(kind.decode?.({}), kind.resource.kind);
});

describe('validation of other kinds', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const cases: { kind: string; body: object; want: string[] }[] = [
    { kind: 'ConfigMap', body: { data: { a: 'b' } }, want: [] },
    {
      kind: 'ConfigMap',
      body: { data: { a: 'b' }, binaryData: { a: base64('c') } },
      want: ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    },
    {
      kind: 'ConfigMap',
      body: { data: { '..': 'b' } },
      want: ['data[..]: Invalid value: "..": must not be \'..\''],
    },
    {
      kind: 'ConfigMap',
      body: { data: { a: 'x'.repeat(1024 * 1024 + 1) } },
      want: ['[]: Too long: may not be more than 1048576 bytes'],
    },
    {
      kind: 'Secret',
      body: { type: 'kubernetes.io/tls' },
      want: ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
    },
    { kind: 'Secret', body: { type: 'kubernetes.io/basic-auth', stringData: { username: 'a' } }, want: [] },
    { kind: 'PersistentVolumeClaim', body: { spec: claim }, want: [] },
    {
      kind: 'PersistentVolumeClaim',
      body: { spec: {} },
      want: [
        'spec.accessModes: Required value: at least 1 access mode is required',
        'spec.resources[storage]: Required value',
      ],
    },
    {
      kind: 'PersistentVolume',
      body: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } },
      want: ['spec: Required value: must specify a volume type'],
    },
    {
      kind: 'NetworkPolicy',
      body: { spec: { podSelector: {}, ingress: [{ from: [{}, { ipBlock: { cidr: 'x' } }] }] } },
      want: [
        'spec.ingress[0].from[0]: Required value: must specify a peer',
        'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    },
    {
      kind: 'Lease',
      body: { spec: { leaseDurationSeconds: 0 } },
      want: ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    },
    {
      kind: 'PodDisruptionBudget',
      body: { spec: { minAvailable: '101%' } },
      want: ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
    },
    {
      kind: 'Role',
      body: { rules: [{}] },
      want: [
        'rules[0].verbs: Required value: verbs must contain at least one value',
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    },
    {
      kind: 'ClusterRoleBinding',
      body: { roleRef: { kind: 'Role', name: 'a' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] },
      want: [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
        'subjects[0].namespace: Required value',
      ],
    },
    { kind: 'RuntimeClass', body: {}, want: ['handler: Required value'] },
    {
      kind: 'PriorityClass',
      body: { value: 2_000_000_000 },
      want: ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    },
    {
      kind: 'EndpointSlice',
      body: { addressType: 'IPv4', endpoints: [{ addresses: ['127.0.0.1'] }] },
      want: [
        'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    },
    {
      kind: 'Event',
      body: { involvedObject: { namespace: 'other' } },
      want: ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    },
    {
      kind: 'ConfigMap',
      body: { metadata: { name: 'x', finalizers: ['foo'] } },
      want: [
        'metadata.finalizers[0]: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
      ],
    },
  ];
  for (const { kind, body, want } of cases) {
    test(`${kind} ${JSON.stringify(body).slice(0, 80)}`, () => {
      assert.deepEqual(
        problemsOf(() => created(kindCalled(kind), body)),
        want,
      );
    });
  }
});

describe('what is sealed or settled stays', () => {
  const cases: {
    name: string;
    kind: string;
    body: object;
    change: (old: ApiObject) => object;
    want: string[];
  }[] = [
    {
      name: 'data of an immutable map',
      kind: 'ConfigMap',
      body: { data: { a: 'b' }, immutable: true },
      change: (old) => ({ ...old, data: { a: 'c' }, immutable: false }),
      want: [
        'immutable: Forbidden: field is immutable when `immutable` is set',
        'data: Forbidden: field is immutable when `immutable` is set',
      ],
    },
    {
      name: 'the type of a secret',
      kind: 'Secret',
      body: {},
      change: (old) => ({ ...old, type: 'x' }),
      want: ['type: Invalid value: "x": field is immutable'],
    },
    {
      name: 'the role of a binding',
      kind: 'RoleBinding',
      body: { roleRef: { kind: 'Role', name: 'a' } },
      change: (old) => ({ ...old, roleRef: { kind: 'Role', name: 'b' } }),
      want: [
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change roleRef',
      ],
    },
    {
      name: 'the mode of a claim',
      kind: 'PersistentVolumeClaim',
      body: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      change: (old) => ({ ...old, spec: { ...(old.spec as object), accessModes: ['ReadOnlyMany'] } }),
      want: [
        'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ],
    },
  ];
  for (const { name, kind, body, change, want } of cases) {
    test(name, () => {
      const old = created(kindCalled(kind), body);
      assert.deepEqual(
        problemsOf(() => updated(kindCalled(kind), old, change)),
        want,
      );
    });
  }
});

test('text of a secret is kept as data', () => {
  const { data, stringData } = created(kindCalled('Secret'), {
    data: { a: 'YQ==', b: 'Yg==' },
    stringData: { a: 'c' },
  }) as ApiObject & { data?: unknown; stringData?: unknown };
  assert.deepEqual(data, { a: 'Yw==', b: 'Yg==' });
  assert.equal(stringData, undefined);
});

test('a claim without a class gets the newest default one, and is held while it is used', () => {
  const classOf = (name: string, at: string) => {
    const made = anObject('StorageClass', name);
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    return { ...made, metadata: { ...made.metadata, annotations, creationTimestamp: at } };
  };
  const around = aroundOf([classOf('old', '2029-01-01T00:00:00Z'), classOf('new', '2029-06-01T00:00:00Z')]);
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const claim = created(kindCalled('PersistentVolumeClaim'), { spec }, around);
  assert.equal((claim.spec as { storageClassName?: string }).storageClassName, 'new');
  assert.deepEqual(claim.metadata.finalizers, ['kubernetes.io/pvc-protection']);
});

test('an event is one thing with two names for most of it', () => {
  const [core, shown] = builtinKinds.filter(({ resource }) => resource.kind === 'Event');
  assert.ok(core?.shownAs && shown?.shownAs);
  const event = created(core, {
    involvedObject: { namespace: 'default', name: 'p' },
    message: 'm',
    count: 2,
  });
  const other = core.shownAs(event, 'events.k8s.io/v1') as ApiObject & Record<string, unknown>;
  assert.deepEqual(
    [other.regarding, other.note, other.deprecatedCount],
    [{ namespace: 'default', name: 'p' }, 'm', 2],
  );
  assert.deepEqual(shown.shownAs(other, 'v1'), event);
});
