import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSandbox } from './new-sandbox.ts';
import { hostImage, runtimeAnnotation } from './runtime.ts';

const basic = { name: 'one', namespace: 'default' };

test('a plain sandbox is bounded, without rights, with the runtime and a workspace', () => {
  assert.deepEqual(newSandbox(basic), {
    apiVersion: 'agents.x-k8s.io/v1beta1',
    kind: 'Sandbox',
    metadata: basic,
    spec: {
      podTemplate: {
        metadata: { annotations: { [runtimeAnnotation]: 'inject' } },
        spec: {
          containers: [
            {
              name: 'sandbox',
              image: hostImage,
              workingDir: '/workspace',
              resources: { limits: { cpu: '1', memory: '1Gi' } },
              volumeMounts: [{ name: 'workspace', mountPath: '/workspace' }],
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
                seccompProfile: { type: 'RuntimeDefault' },
                runAsNonRoot: true,
              },
            },
          ],
          volumes: [{ name: 'workspace', emptyDir: {} }],
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 1,
        },
      },
    },
  });
});

test('what the caller says is taken over', () => {
  const { metadata, spec } = newSandbox({
    ...basic,
    image: 'docker.io/library/python:3.13',
    command: ['python3', '-m', 'http.server'],
    env: { A: '1' },
    resources: { cpu: '250m' },
    workdir: '/srv',
    annotations: { note: 'mine' },
  });
  const container = spec.podTemplate.spec.containers[0];
  assert.deepEqual(metadata.annotations, { note: 'mine' });
  assert.deepEqual(container?.command, ['python3', '-m', 'http.server']);
  assert.deepEqual(container?.env, [{ name: 'A', value: '1' }]);
  assert.deepEqual(container?.resources, { limits: { cpu: '250m', memory: '1Gi' } });
  assert.equal(container?.workingDir, '/srv');
});

test('an image of others may be made for root, so it is not refused for that', () => {
  const { spec } = newSandbox({ ...basic, image: 'docker.io/library/python:3.13' });
  assert.equal(spec.podTemplate.spec.containers[0]?.securityContext?.runAsNonRoot, undefined);
});
