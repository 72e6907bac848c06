import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { typeDefaults } from '../kinds/type-defaults.ts';
import { structures } from './structures/index.gen.ts';
import { readTyped } from './typed.ts';

describe('reading a built-in type', () => {
  const cases: { name: string; type: string; given: unknown; want: unknown; unknown?: string[] }[] = [
    {
      name: 'leaves out what the type does not have, and tells of it',
      type: 'core.v1.Pod',
      given: { metadata: { name: 'a', foo: 1 }, spec: { containers: [{ name: 'm', bar: {} }] } },
      want: {
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'm', resources: {} }] },
        status: {},
      },
      unknown: ['metadata.foo', 'spec.containers[0].bar'],
    },
    {
      name: 'leaves out empty members, but not those behind a pointer',
      type: 'core.v1.PodSpec',
      given: {
        containers: [],
        hostNetwork: false,
        volumes: [],
        nodeSelector: {},
        hostname: '',
        terminationGracePeriodSeconds: 0,
        securityContext: {},
      },
      want: { containers: [], terminationGracePeriodSeconds: 0, securityContext: {} },
    },
    {
      name: 'takes null for nothing',
      type: 'core.v1.PodSpec',
      given: { containers: null, priority: null, nodeSelector: null },
      want: { containers: null },
    },
    {
      name: 'writes quantities and times in their one form',
      type: 'core.v1.Event',
      given: { metadata: {}, involvedObject: {}, lastTimestamp: '2030-01-01T01:00:00.5+01:00' },
      want: {
        metadata: {},
        involvedObject: {},
        source: {},
        firstTimestamp: null,
        lastTimestamp: '2030-01-01T00:00:00Z',
        eventTime: null,
        reportingComponent: '',
        reportingInstance: '',
      },
    },
    {
      name: 'rounds resources up to the thousandth',
      type: 'core.v1.ResourceRequirements',
      given: { limits: { cpu: '0.0001', memory: '1024Ki' } },
      want: { limits: { cpu: '1m', memory: '1Mi' } },
    },
    {
      name: 'keeps a member called __proto__ a member',
      type: 'core.v1.ConfigMap',
      given: { data: JSON.parse('{"__proto__":"x"}') as unknown },
      want: { metadata: {}, data: JSON.parse('{"__proto__":"x"}') as unknown },
    },
  ];
  for (const { name, type, given, want, unknown = [] } of cases) {
    test(name, () => {
      const read = readTyped(given, type);
      assert.deepEqual(read.value, want);
      assert.deepEqual(read.unknown, unknown);
    });
  }

  const refusals: { type?: string; given: unknown; message: string }[] = [
    {
      given: { spec: { containers: 'x' } },
      message:
        'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
    },
    {
      given: { spec: { containers: [{ name: 1 }] } },
      message:
        'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
    },
    {
      given: { metadata: { labels: { a: 1 } } },
      message: 'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    },
    {
      given: { spec: { restartPolicy: 1 } },
      message:
        'json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
    },
    {
      given: { spec: { terminationGracePeriodSeconds: 1.5 } },
      message:
        'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64',
    },
    {
      given: { spec: { containers: [{ livenessProbe: { httpGet: { port: true } } }] } },
      message:
        'json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32',
    },
    {
      given: { metadata: { creationTimestamp: 'x' } },
      message: 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    },
    {
      given: { spec: { containers: [{ resources: { limits: { cpu: 'abc' } } }] } },
      message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    },
    { type: 'core.v1.Secret', given: { data: { a: '!!' } }, message: 'illegal base64 data at input byte 0' },
    { given: 'x', message: 'json: cannot unmarshal string into Go value of type v1.Pod' },
  ];
  for (const { type = 'core.v1.Pod', given, message } of refusals) {
    test(`refuses ${JSON.stringify(given)}`, () => {
      assert.throws(() => readTyped(given, type), { code: 'invalid', message });
    });
  }

  test('reading what was read changes nothing, for any value of any type', () => {
    const types = Object.keys(structures);
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.object({ maxDepth: 3 }), (type, value) => {
        const known = JSON.parse(JSON.stringify(value)) as unknown;
        let once: unknown;
        try {
          once = readTyped(known, type, typeDefaults).value;
        } catch (err) {
          assert.equal((err as { code?: string }).code, 'invalid');
          return;
        }
        assert.deepEqual(readTyped(once, type, typeDefaults).value, once);
      }),
    );
  });
});
