import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodSpec } from '@hutch/kube-meta';
import type { ApiObject } from '../kind.ts';
import {
  anObject,
  aroundOf,
  created,
  defaultAccount,
  kindCalled,
  problemsOf,
  updated,
} from '../test-kinds.ts';

const pods = kindCalled('Pod');

function container(more: object = {}): object {
  return { name: 'main', image: 'example.com/main:1', ...more };
}

function aPod(spec: object = {}): object {
  return { spec: { automountServiceAccountToken: false, containers: [container()], ...spec } };
}

function specOf(pod: ApiObject): PodSpec {
  return pod.spec as PodSpec;
}

test('a pod gets what the server knows better', () => {
  const pod = created(pods, { spec: { containers: [container()] } });
  const { containers, volumes = [], ...spec } = specOf(pod);
  const volume = volumes[0]?.name ?? '';
  assert.match(volume, /^kube-api-access-[a-z0-9]{5}$/);
  assert.deepEqual(spec, {
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    priority: 0,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    serviceAccount: 'default',
    serviceAccountName: 'default',
    terminationGracePeriodSeconds: 30,
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
  });
  assert.deepEqual(containers, [
    {
      name: 'main',
      image: 'example.com/main:1',
      imagePullPolicy: 'IfNotPresent',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      volumeMounts: [
        { name: volume, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
      ],
    },
  ]);
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'BestEffort' });
});

describe('defaults', () => {
  const cases: { name: string; spec: object; pick: (spec: PodSpec) => unknown; want: unknown }[] = [
    {
      name: 'an image that floats is always pulled',
      spec: { containers: [container({ image: 'r:5000/x' }), container({ name: 'b', image: 'x:latest' })] },
      pick: ({ containers }) => containers.map(({ imagePullPolicy }) => imagePullPolicy),
      want: ['Always', 'Always'],
    },
    {
      name: 'what a container is limited to it asks for',
      spec: { containers: [container({ resources: { limits: { cpu: '1000m', memory: '1024Mi' } } })] },
      pick: ({ containers }) => containers[0]?.resources,
      want: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
    },
    {
      name: 'probes have their numbers',
      spec: { containers: [container({ readinessProbe: { httpGet: { port: 80 } } })] },
      pick: ({ containers }) => containers[0]?.readinessProbe,
      want: {
        httpGet: { path: '/', port: 80, scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
    },
    {
      name: 'a volume without a source is an empty directory, files can be read by all',
      spec: { volumes: [{ name: 'a' }, { name: 'b', secret: { secretName: 's' } }] },
      pick: ({ volumes }) => volumes,
      want: [
        { name: 'a', emptyDir: {} },
        { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
      ],
    },
    {
      name: 'on the host network a port is a port of the host',
      spec: { hostNetwork: true, containers: [container({ ports: [{ containerPort: 80 }] })] },
      pick: ({ containers }) => containers[0]?.ports,
      want: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
    },
    {
      name: 'a negative grace is the shortest',
      spec: { terminationGracePeriodSeconds: -5 },
      pick: ({ terminationGracePeriodSeconds }) => terminationGracePeriodSeconds,
      want: 1,
    },
    {
      name: 'who tolerates everything needs no more patience',
      spec: { tolerations: [{ operator: 'Exists' }] },
      pick: ({ tolerations }) => tolerations,
      want: [{ operator: 'Exists' }],
    },
  ];
  for (const { name, spec, pick, want } of cases) {
    test(name, () => assert.deepEqual(pick(specOf(created(pods, aPod(spec)))), want));
  }

  const classes: [resources: object, qosClass: string][] = [
    [{}, 'BestEffort'],
    [{ requests: { cpu: '1' } }, 'Burstable'],
    [{ limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
    [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } }, 'Burstable'],
    [{ limits: { 'example.com/gpu': '1' } }, 'BestEffort'],
  ];
  for (const [resources, qosClass] of classes) {
    test(`${JSON.stringify(resources)} is ${qosClass}`, () => {
      const { status } = created(pods, aPod({ containers: [container({ resources })] }));
      assert.equal((status as { qosClass?: string }).qosClass, qosClass);
    });
  }
});

describe('what forbids a pod', () => {
  const cases: { spec: object; why: string }[] = [
    {
      spec: { serviceAccountName: 'nope' },
      why: 'error looking up service account default/nope: serviceaccount "nope" not found',
    },
    { spec: { priorityClassName: 'nope' }, why: 'no PriorityClass with name nope was found' },
    { spec: { runtimeClassName: 'nope' }, why: 'pod rejected: RuntimeClass "nope" not found' },
    {
      spec: { priority: 5 },
      why: 'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    },
  ];
  for (const { spec, why } of cases) {
    test(JSON.stringify(spec), () => {
      assert.deepEqual(
        problemsOf(() => created(pods, aPod(spec))),
        [`pods "x" is forbidden: ${why}`],
      );
    });
  }

  test('a class that is there gives its priority, a runtime its overhead', () => {
    const around = aroundOf([
      defaultAccount,
      anObject('PriorityClass', 'high', { value: 7, preemptionPolicy: 'Never' }),
      anObject('RuntimeClass', 'slow', {
        overhead: { podFixed: { cpu: '1' } },
        scheduling: { nodeSelector: { a: 'b' } },
      }),
    ]);
    const spec = specOf(created(pods, aPod({ priorityClassName: 'high', runtimeClassName: 'slow' }), around));
    assert.equal(spec.priority, 7);
    assert.equal(spec.preemptionPolicy, 'Never');
    assert.deepEqual(spec.overhead, { cpu: '1' });
    assert.deepEqual(spec.nodeSelector, { a: 'b' });
  });
});

describe('validation', () => {
  const label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  const cases: { spec: object; want: string[] }[] = [
    { spec: { containers: [] }, want: ['spec.containers: Required value'] },
    { spec: { containers: null }, want: ['spec.containers: Required value'] },
    {
      spec: { containers: [container({ name: 'A' }), container({ image: '' })] },
      want: [
        `spec.containers[0].name: Invalid value: "A": ${label}`,
        'spec.containers[1].image: Required value',
      ],
    },
    {
      spec: { containers: [container(), container()] },
      want: ['spec.containers[1].name: Duplicate value: "main"'],
    },
    {
      spec: { restartPolicy: 'Foo' },
      want: [
        'spec.restartPolicy: Unsupported value: "Foo": supported values: "Always", "OnFailure", "Never"',
      ],
    },
    {
      spec: { containers: [container({ volumeMounts: [{ name: 'nope', mountPath: '/a' }] })] },
      want: ['spec.containers[0].volumeMounts[0].name: Not found: "nope"'],
    },
    {
      spec: { volumes: [{ name: 'a', emptyDir: {}, configMap: { name: 'b' } }] },
      want: ['spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type'],
    },
    {
      spec: { containers: [container({ ports: [{ containerPort: 70_000, protocol: 'X' }] })] },
      want: [
        'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      ],
    },
    {
      spec: { containers: [container({ env: [{ name: 'a=b' }, { name: 'c', valueFrom: {} }] })] },
      want: [
        'spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
        'spec.containers[0].env[1].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ],
    },
    {
      spec: { containers: [container({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } })] },
      want: [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    },
    {
      spec: { containers: [container({ livenessProbe: {} })] },
      want: ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
    },
    {
      spec: { initContainers: [container({ name: 'i', livenessProbe: { exec: { command: ['a'] } } })] },
      want: [
        'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
      ],
    },
    {
      spec: { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
      want: [
        'spec.tolerations[0].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\'',
      ],
    },
    {
      spec: { dnsPolicy: 'None' },
      want: ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    },
    {
      spec: { schedulingGates: [{ name: 'a' }], nodeName: 'n' },
      want: ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
    },
  ];
  for (const { spec, want } of cases) {
    test(JSON.stringify(spec), () =>
      assert.deepEqual(
        problemsOf(() => created(pods, aPod(spec))),
        want,
      ),
    );
  }
});

describe('what may change', () => {
  const old = created(pods, aPod({ activeDeadlineSeconds: 100 }));
  const change = (spec: object) => ({ ...old, spec: { ...specOf(old), ...spec } });
  const cases: { name: string; spec: object; want: string[] }[] = [
    { name: 'the image', spec: { containers: [container({ image: 'b:2' })] }, want: [] },
    {
      name: 'not the name of a container',
      spec: { containers: [container({ name: 'z' })] },
      want: [
        'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      ],
    },
    {
      name: 'not how many containers there are',
      spec: { containers: [container(), container({ name: 'b' })] },
      want: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    },
    { name: 'a deadline, when it comes earlier', spec: { activeDeadlineSeconds: 50 }, want: [] },
    {
      name: 'not a deadline to a later one',
      spec: { activeDeadlineSeconds: 500 },
      want: ['spec.activeDeadlineSeconds: Invalid value: 500: must be less than or equal to previous value'],
    },
    {
      name: 'tolerations, when more come',
      spec: { tolerations: [...(specOf(old).tolerations ?? []), { key: 'a', operator: 'Exists' }] },
      want: [],
    },
    {
      name: 'not to gates that were not there',
      spec: { schedulingGates: [{ name: 'a' }] },
      want: [
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
      ],
    },
  ];
  for (const { name, spec, want } of cases) {
    test(name, () =>
      assert.deepEqual(
        problemsOf(() => updated(pods, old, () => change(spec))),
        want,
      ),
    );
  }
});
