import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, EndpointSlice, Pod, Service } from '@hutch/kube-meta';
import { aPod, type PodCase, someMeta } from '@hutch/testing';
import fc from 'fast-check';
import { type Action, decide, isFilledByUs, maxEndpointsPerSlice, type Observed } from './decide.ts';

function aService(spec: Service['spec'] = {}, labels?: Record<string, string>): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: someMeta('web', labels ? { labels } : {}),
    spec: { clusterIP: '10.96.0.9', ipFamilies: ['IPv4'], selector: { app: 'web' }, ...spec },
  };
}

const ready = { conditions: [{ type: 'Ready', status: 'True' }] } as const;

function runningPod(name: string, ip: string, given: PodCase = {}): Pod {
  const status = {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [...ready.conditions],
  } as const;
  return aPod({
    ...given,
    metadata: { name, ...given.metadata },
    status: { ...status, conditions: [...status.conditions], podIPs: [{ ip }], ...given.status },
  });
}

function observe(given: Partial<Observed>): Observed {
  const { slices = [] } = given;
  return {
    service: aService(),
    pods: [],
    zoneOf: () => undefined,
    slices,
    isTaken: (name) => slices.some(({ metadata }) => metadata.name === name),
    ...given,
  };
}

/** Decides and does it, as the server would. */
function settle(given: Partial<Observed>): { slices: EndpointSlice[]; actions: readonly Action[] } {
  const actions = decide(observe(given));
  const slices = new Map((given.slices ?? []).map((slice) => [slice.metadata.name, slice]));
  for (const action of actions) {
    if (action.type === 'delete') slices.delete(action.slice.metadata.name);
    else if (action.type === 'update') slices.set(action.slice.metadata.name, action.slice);
    else {
      const { metadata, ...rest } = action.draft;
      const name = metadata.name ?? '';
      assert.ok(!slices.has(name), 'a name is given once');
      slices.set(name, { ...rest, metadata: someMeta(name, metadata) } as EndpointSlice);
    }
  }
  return { slices: [...slices.values()], actions };
}

const endpointsOf = (slices: readonly EndpointSlice[]) => slices.flatMap(({ endpoints }) => endpoints ?? []);
const conditionsOf = ({ conditions = {} }: Endpoint) => {
  const { ready = false, serving = false, terminating = false } = conditions;
  return `${ready ? 'ready' : '-'} ${serving ? 'serving' : '-'} ${terminating ? 'terminating' : '-'}`;
};

test('a service nobody stands behind has one empty slice that says whose it is', () => {
  const { slices } = settle({ service: aService({}, { team: 'x' }) });
  assert.equal(slices.length, 1);
  const [{ metadata, endpoints, ports, addressType } = assert.fail()] = slices;
  assert.deepEqual({ endpoints, ports, addressType }, { endpoints: [], ports: [], addressType: 'IPv4' });
  assert.deepEqual(metadata.labels, {
    team: 'x',
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  });
  assert.match(metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.deepEqual(metadata.ownerReferences, [
    {
      apiVersion: 'v1',
      kind: 'Service',
      name: 'web',
      uid: 'uid-of-web',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
});

test('a headless service says so on its slices', () => {
  const { slices } = settle({ service: aService({ clusterIP: 'None' }) });
  assert.equal(slices[0]?.metadata.labels?.['service.kubernetes.io/headless'], '');
});

const stateCases: { name: string; pod: Pod; publishNotReadyAddresses?: boolean; want: string[] }[] = [
  { name: 'a ready pod is ready', pod: runningPod('a', '10.0.0.1'), want: ['ready serving -'] },
  {
    name: 'a pod that is not ready is listed as such',
    pod: runningPod('a', '10.0.0.1', { status: { conditions: [] } }),
    want: ['- - -'],
  },
  {
    name: 'where addresses are published anyway it is ready, but not serving',
    pod: runningPod('a', '10.0.0.1', { status: { conditions: [] } }),
    publishNotReadyAddresses: true,
    want: ['ready - -'],
  },
  {
    name: 'a pod on its way out still serves',
    pod: runningPod('a', '10.0.0.1', { terminating: true }),
    want: ['- serving terminating'],
  },
  {
    name: 'a finished pod is gone',
    pod: runningPod('a', '10.0.0.1', { status: { phase: 'Succeeded' } }),
    want: [],
  },
  { name: 'a pod without an address is not there yet', pod: aPod(), want: [] },
  {
    name: 'an address of the other family is not for this service',
    pod: runningPod('a', 'fd00::1'),
    want: [],
  },
];
for (const { name, pod, publishNotReadyAddresses = false, want } of stateCases) {
  test(name, () => {
    const { slices } = settle({ service: aService({ publishNotReadyAddresses }), pods: [pod] });
    assert.deepEqual(endpointsOf(slices).map(conditionsOf), want);
  });
}

test('an endpoint tells which pod it is, where it runs and what it is called', () => {
  const spec = { nodeName: 'n1', hostname: 'h', subdomain: 'web' };
  const pod = runningPod('a', '10.0.0.1', { spec });
  const { slices } = settle({ pods: [pod], zoneOf: (node) => (node === 'n1' ? 'z' : undefined) });
  assert.deepEqual(endpointsOf(slices), [
    {
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-of-a' },
      nodeName: 'n1',
      zone: 'z',
      hostname: 'h',
    },
  ]);
});

test('a port by name is the number each pod gives it, and pods that differ are in slices of their own', () => {
  const pod = (name: string, ip: string, containerPort: number) =>
    runningPod(name, ip, { spec: { containers: [{ name: 'c', ports: [{ name: 'http', containerPort }] }] } });
  const ports = [
    { name: 'web', port: 80, targetPort: 'http' },
    { name: 'plain', port: 90 },
    { name: 'absent', port: 91, targetPort: 'nowhere' },
  ];
  const { slices } = settle({
    service: aService({ ports }),
    pods: [pod('a', '10.0.0.1', 8080), pod('b', '10.0.0.2', 8081), pod('c', '10.0.0.3', 8080)],
  });
  const seen = slices.map((slice) => [slice.ports?.map(({ port }) => port), slice.endpoints?.length]);
  assert.deepEqual(seen, [
    [[8080, 90], 2],
    [[8081, 90], 1],
  ]);
});

test('what is settled is left alone', () => {
  const pods = [runningPod('a', '10.0.0.1'), runningPod('b', '10.0.0.2')];
  const { slices } = settle({ pods });
  assert.deepEqual(decide(observe({ pods, slices })), []);
});

test('the empty slice is filled when the first pod comes, and is empty again when the last one went', () => {
  const empty = settle({});
  const filled = settle({ pods: [runningPod('a', '10.0.0.1')], slices: empty.slices });
  assert.deepEqual(
    filled.actions.map(({ type }) => type),
    ['update'],
  );
  const emptied = settle({ slices: filled.slices });
  assert.deepEqual(
    emptied.actions.map(({ type }) => type),
    ['update'],
  );
  assert.deepEqual(endpointsOf(emptied.slices), []);
});

test('a slice of a namesake that is gone makes room', () => {
  const [slice = assert.fail()] = settle({}).slices;
  const strange = { ...slice.metadata, ownerReferences: [{ ...ownerOf(slice), uid: 'another' }] };
  const { actions } = settle({ slices: [{ ...slice, metadata: strange }] });
  assert.deepEqual(actions.map(({ type }) => type).toSorted(), ['create', 'delete']);
});

const ownerOf = ({ metadata }: EndpointSlice) => metadata.ownerReferences?.[0] ?? assert.fail();

test('an external name and a service without a selector are not ours to fill', () => {
  assert.equal(isFilledByUs(aService({ type: 'ExternalName' })), false);
  const { selector: _, ...spec } = aService().spec;
  assert.equal(isFilledByUs({ ...aService(), spec }), false);
  assert.equal(isFilledByUs(aService()), true);
});

test('a service on its way out is left to its end', () => {
  const service = { ...aService(), metadata: someMeta('web', { deletionTimestamp: '2030-01-01T00:00:00Z' }) };
  assert.deepEqual(decide(observe({ service })), []);
});

test('after any history every pod is in exactly one slice, no slice is too full, and nothing is left to do', () => {
  const population = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 320 });
  fc.assert(
    fc.property(fc.array(population, { minLength: 1, maxLength: 5 }), (history) => {
      let slices: EndpointSlice[] = [];
      for (const numbers of history) {
        const pods = numbers.map((n) => runningPod(`p${n}`, `10.0.${n >> 8}.${n & 255}`));
        slices = settle({ pods, slices }).slices;
        const names = endpointsOf(slices).map(({ targetRef }) => targetRef?.name);
        assert.deepEqual(names.toSorted(), numbers.map((n) => `p${n}`).toSorted());
        assert.ok(slices.every(({ endpoints }) => (endpoints?.length ?? 0) <= maxEndpointsPerSlice));
        assert.deepEqual(decide(observe({ pods, slices })), []);
      }
    }),
    { numRuns: 30 },
  );
});
