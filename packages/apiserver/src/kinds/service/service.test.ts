import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anObject, aroundOf, created, kindCalled, problemsOf, updated } from '../test-kinds.ts';
import { type ServiceSpec, serviceSpec } from './spec.ts';

const services = kindCalled('Service');

function made(spec: object, around = aroundOf()): ServiceSpec {
  return serviceSpec(created(services, { spec }, around));
}

test('a service gets an address, its defaults and an empty status', () => {
  const service = created(services, { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } }, aroundOf());
  const { clusterIP = '', clusterIPs, ...spec } = serviceSpec(service);
  assert.match(clusterIP, /^10\.96\.\d+\.\d+$/);
  assert.deepEqual(clusterIPs, [clusterIP]);
  assert.deepEqual(spec, {
    internalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
    selector: { a: 'b' },
    sessionAffinity: 'None',
    type: 'ClusterIP',
  });
  assert.deepEqual(service.status, { loadBalancer: {} });
});

test('a headless service has no address', () => {
  const { clusterIP, clusterIPs, ipFamilies } = made({ clusterIP: 'None', selector: { a: 'b' } });
  assert.equal(clusterIP, 'None');
  assert.deepEqual(clusterIPs, ['None']);
  assert.deepEqual(ipFamilies, ['IPv4']);
});

test('two services of one batch never get the same', () => {
  const around = aroundOf();
  const spec = { type: 'NodePort', ports: [{ port: 80 }] };
  const all = Array.from({ length: 300 }, () => made(spec, around));
  assert.equal(new Set(all.map(({ clusterIP }) => clusterIP)).size, 300);
  assert.equal(new Set(all.map(({ ports = [] }) => ports[0]?.nodePort)).size, 300);
});

test('an address that is taken or not ours to give is refused', () => {
  const other = anObject('Service', 'other', {
    spec: { clusterIPs: ['10.96.7.7'], ports: [{ nodePort: 30_080 }] },
  });
  const refused = (spec: object) => problemsOf(() => made(spec, aroundOf([other])));
  const ports = [{ port: 80 }];
  assert.deepEqual(refused({ ports, clusterIP: '10.96.7.7' }), [
    'spec.clusterIPs: Invalid value: ["10.96.7.7"]: failed to allocate IP 10.96.7.7: provided IP is already allocated',
  ]);
  assert.deepEqual(refused({ ports, clusterIP: '1.2.3.4' }), [
    'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
  ]);
  assert.deepEqual(refused({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }), [
    'spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
  ]);
  assert.deepEqual(refused({ ports, ipFamilies: ['IPv6'] }), [
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ]);
});

describe('validation', () => {
  const cases: { spec: object; want: string[] }[] = [
    { spec: {}, want: ['spec.ports: Required value'] },
    {
      spec: { clusterIP: 'None', ports: [{ port: 80 }, { port: 81 }] },
      want: ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    },
    { spec: { type: 'ExternalName' }, want: ['spec.externalName: Required value'] },
    {
      spec: { type: 'Foo', clusterIP: 'None', ports: [{ port: 80 }] },
      want: [
        'spec.type: Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    },
    {
      spec: { clusterIP: 'None', ports: [{ port: 80, nodePort: 30_000 }] },
      want: ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    },
    {
      spec: { clusterIP: 'None', externalTrafficPolicy: 'Local' },
      want: [
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      ],
    },
  ];
  for (const { spec, want } of cases) {
    test(JSON.stringify(spec), () =>
      assert.deepEqual(
        problemsOf(() => made(spec)),
        want,
      ),
    );
  }
});

describe('an update', () => {
  const old = created(services, { spec: { type: 'NodePort', ports: [{ port: 80 }] } }, aroundOf());
  const before = serviceSpec(old);
  const after = (spec: object) => serviceSpec(updated(services, old, () => ({ ...old, spec })));

  test('that leaves out what was allocated keeps it', () => {
    const { clusterIP, ports } = after({ type: 'NodePort', ports: [{ port: 81 }] });
    assert.equal(clusterIP, before.clusterIP);
    assert.equal(ports?.[0]?.nodePort, before.ports?.[0]?.nodePort);
  });

  test('to another type lets go of what that has no use for', () => {
    const plain = after({ ...before, type: 'ClusterIP' });
    assert.deepEqual(plain.ports, [{ port: 80, protocol: 'TCP', targetPort: 80 }]);
    const named = after({ ...before, type: 'ExternalName', externalName: 'a.b' });
    assert.equal(named.clusterIP, undefined);
    assert.equal(named.ipFamilies, undefined);
  });

  test('cannot move it', () => {
    assert.deepEqual(
      problemsOf(() => after({ ...before, clusterIP: '10.96.0.77' })),
      ['spec.clusterIPs[0]: Invalid value: ["10.96.0.77"]: may not change once set'],
    );
  });
});
