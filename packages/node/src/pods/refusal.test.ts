import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '@hutch/kube-meta';
import { aContainer, aPod } from '../test-objects.ts';
import { refusalOf } from './refusal.ts';

const abilities = { hasUserNamespaces: true, runtimeClasses: ['runc'] };

const pod = (spec: Partial<PodSpec>) => refusalOf(aPod(spec), abilities);
const container = (overrides: Partial<Container>, volumes: PodSpec['volumes'] = []) =>
  pod({ containers: [aContainer(overrides)], volumes });

test('what this node can do is not refused', () => {
  const full = pod({
    hostUsers: false,
    runtimeClassName: 'runc',
    restartPolicy: 'OnFailure',
    terminationGracePeriodSeconds: 5,
    securityContext: { runAsUser: 1000, fsGroup: 2000, seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'fast', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
      { name: 'runtime', image: { reference: 'hutch.internal/runtime' } },
    ],
    containers: [
      aContainer({
        command: ['sleep'],
        env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
        resources: { limits: { cpu: '1', memory: '1Gi' } },
        readinessProbe: { httpGet: { port: 8888 } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      }),
    ],
  });
  assert.equal(full, undefined);
});

const refused: [name: string, refusal: ReturnType<typeof pod>, message: RegExp][] = [
  ['hostNetwork', pod({ hostNetwork: true }), /hostNetwork/],
  ['hostPID', pod({ hostPID: true }), /hostPID/],
  ['an unknown runtime class', pod({ runtimeClassName: 'kata' }), /kata.*runc/],
  ['init containers', pod({ initContainers: [aContainer()] }), /initContainers/],
  ['sysctls', pod({ securityContext: { sysctls: [{ name: 'a', value: 'b' }] } }), /sysctls/],
  ['an unconfined pod', pod({ securityContext: { seccompProfile: { type: 'Unconfined' } } }), /Unconfined/],
  ['a host path', pod({ volumes: [{ name: 'v', hostPath: { path: '/' } }] }), /volume v: kind hostPath/],
  ['a volume without a kind', pod({ volumes: [{ name: 'v' }] }), /volume v: kind none/],
  ['a volume name that is a path', pod({ volumes: [{ name: '../x', emptyDir: {} }] }), /not a volume name/],
  ['a size limit on disk', pod({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }), /sizeLimit/],
  ['privileged', container({ securityContext: { privileged: true } }), /container main: privileged/],
  [
    'more privileges',
    container({ securityContext: { allowPrivilegeEscalation: true } }),
    /allowPrivilegeEscalation/,
  ],
  [
    'a strong capability',
    container({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
    /SYS_ADMIN/,
  ],
  ['an unmasked proc', container({ securityContext: { procMount: 'Unmasked' } }), /procMount/],
  ['a liveness probe', container({ livenessProbe: { tcpSocket: { port: 1 } } }), /livenessProbe/],
  ['an exec probe', container({ readinessProbe: { exec: { command: ['true'] } } }), /readinessProbe/],
  ['a GPU', container({ resources: { limits: { 'nvidia.com/gpu': '1' } } }), /nvidia/],
  ['nonsense for memory', container({ resources: { limits: { memory: 'lots' } } }), /not a quantity/],
  [
    'environment from a secret',
    container({ env: [{ name: 'S', valueFrom: { secretKeyRef: { key: 'k' } } }] }),
    /env S/,
  ],
  [
    'an unknown field',
    container({ env: [{ name: 'S', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    /spec\.x/,
  ],
  ['a mount of nothing', container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }), /no such volume/],
  [
    'a mount over the root',
    container({ volumeMounts: [{ name: 'v', mountPath: '/' }] }, [{ name: 'v', emptyDir: {} }]),
    /mountPath/,
  ],
  [
    'a mount that climbs',
    container({ volumeMounts: [{ name: 'v', mountPath: '/a/../../b' }] }, [{ name: 'v', emptyDir: {} }]),
    /mountPath/,
  ],
  ['a container name that is a path', container({ name: '../x' }), /not a container name/],
  ['no image', container({ image: '' }), /image is missing/],
];

for (const [name, refusal, message] of refused) {
  test(`${name} is refused by name`, () => {
    assert.equal(refusal?.reason, 'UnsupportedPod');
    assert.match(refusal?.message ?? '', message);
  });
}

test('all problems are told at once', () => {
  assert.match(pod({ hostPID: true, hostIPC: true })?.message ?? '', /hostPID.*hostIPC/);
});

test('a pod that must have a user namespace is refused where there is none', () => {
  assert.ok(refusalOf(aPod({ hostUsers: false }), { ...abilities, hasUserNamespaces: false }));
});
