import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSandbox, runtimeAnnotation, runtimeCommand, type Sandbox } from '@hutch/api';
import type { Container, PodSpec } from '@hutch/kube-meta';
import { someMeta } from '@hutch/testing';
import { aSandbox } from './fixtures.test.ts';
import { desiredPod } from './resources.ts';

function injected(spec: PodSpec): Sandbox {
  return aSandbox({
    spec: { podTemplate: { spec, metadata: { annotations: { [runtimeAnnotation]: 'inject' } } } },
  });
}

function mainOf(sandbox: Sandbox): Container {
  const [main] = desiredPod(sandbox).spec.containers;
  assert.ok(main);
  return main;
}

test('without injection the pod spec is exactly the template’s (SB-54)', () => {
  const spec: PodSpec = { containers: [{ name: 'main', image: 'x', args: ['a'] }], hostname: 'h' };
  const pod = desiredPod(aSandbox({ spec: { podTemplate: { spec } } }));
  assert.deepEqual(pod.spec, spec);
});

test('the pod has the sandbox’s name, namespace and ownership (SB-4, SB-53)', () => {
  const { metadata } = desiredPod(aSandbox());
  assert.equal(metadata.name, 'box');
  assert.equal(metadata.namespace, 'default');
  assert.deepEqual(metadata.ownerReferences, [
    {
      apiVersion: 'agents.x-k8s.io/v1beta1',
      kind: 'Sandbox',
      name: 'box',
      uid: 'uid-of-box',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  assert.equal('annotations' in metadata, false);
});

test('an injected runtime is the first process, behind its probe, from a read-only volume', () => {
  const sandbox = injected({
    containers: [
      { name: 'main', image: 'x' },
      { name: 'side', image: 'y' },
    ],
  });
  assert.deepEqual(desiredPod(sandbox).spec, {
    containers: [
      {
        name: 'main',
        image: 'x',
        command: [...runtimeCommand],
        ports: [{ name: 'hutch', containerPort: 8888, protocol: 'TCP' }],
        volumeMounts: [{ name: 'hutch-runtime', mountPath: '/.hutch', readOnly: true }],
        readinessProbe: { httpGet: { path: '/', port: 8888 }, periodSeconds: 1 },
      },
      { name: 'side', image: 'y' },
    ],
    volumes: [
      { name: 'hutch-runtime', image: { reference: 'hutch.internal/runtime', pullPolicy: 'IfNotPresent' } },
    ],
  });
});

test('the template’s own command becomes the runtime’s child', () => {
  const main = mainOf(
    injected({ containers: [{ name: 'main', image: 'x', command: ['sh', '-c'], args: ['ls'] }] }),
  );
  assert.deepEqual(main.command, [...runtimeCommand, '--', 'sh', '-c', 'ls']);
  assert.equal(main.args, undefined);
});

test('a template that knows the port, or probes for something of its own, is respected', () => {
  const ports = [{ name: 'api', containerPort: 8888 }];
  const readinessProbe = { exec: { command: ['true'] } };
  const main = mainOf(injected({ containers: [{ name: 'main', image: 'x', ports, readinessProbe }] }));
  assert.deepEqual(main.ports, ports);
  assert.deepEqual(main.readinessProbe, readinessProbe);
});

test('nobody else’s volume can take the runtime’s place', () => {
  const sandbox = injected({
    containers: [
      { name: 'main', image: 'x', volumeMounts: [{ name: 'hutch-runtime', mountPath: '/.hutch' }] },
    ],
    volumes: [
      { name: 'hutch-runtime', emptyDir: {} },
      { name: 'data', emptyDir: {} },
    ],
  });
  const { volumes } = desiredPod(sandbox).spec;
  assert.deepEqual(
    volumes?.map(({ name, image }) => [name, image?.reference]),
    [
      ['data', undefined],
      ['hutch-runtime', 'hutch.internal/runtime'],
    ],
  );
  assert.deepEqual(mainOf(sandbox).volumeMounts, [
    { name: 'hutch-runtime', mountPath: '/.hutch', readOnly: true },
  ]);
});

test('the sandbox of our own tools keeps its workspace beside the runtime', () => {
  const draft = newSandbox({ name: 'box', namespace: 'default' });
  const pod = desiredPod({ ...draft, metadata: someMeta('box') } as Sandbox);
  assert.deepEqual(
    pod.spec.volumes?.map(({ name }) => name),
    ['workspace', 'hutch-runtime'],
  );
});
