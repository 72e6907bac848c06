import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '@hutch/kube-meta';
import { type RoutableSandbox, routeTable } from './route-table.ts';

const readyCondition: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'DependenciesReady',
  message: 'Pod is Ready',
  lastTransitionTime: '2030-01-01T00:00:00Z',
};

function aSandbox(
  metadata: Partial<RoutableSandbox['metadata']> = {},
  status: RoutableSandbox['status'] = { conditions: [readyCondition], podIPs: ['10.0.0.5'] },
): RoutableSandbox {
  const identity = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1' };
  return {
    apiVersion: 'agents.x-k8s.io/v1beta1',
    kind: 'Sandbox',
    metadata: { ...identity, creationTimestamp: '2030-01-01T00:00:00Z', ...metadata },
    status,
  };
}

const owner = {
  apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
  kind: 'SandboxClaim',
  name: 'c',
  uid: 'c-1',
};
const lookup = (sandbox?: RoutableSandbox) => routeTable({ get: () => sandbox }).lookup('default', 'a');

test('a ready sandbox has a route to its pod', () => {
  assert.deepEqual(lookup(aSandbox()), {
    uid: 'u',
    claimUid: undefined,
    podIps: ['10.0.0.5'],
    isReady: true,
    reason: 'DependenciesReady',
    message: 'Pod is Ready',
  });
});

const notReady: { name: string; sandbox: RoutableSandbox; reason: string }[] = [
  { name: 'without a status', sandbox: aSandbox({}, {}), reason: 'Pending' },
  {
    name: 'whose pod is not ready',
    sandbox: aSandbox({}, { conditions: [{ ...readyCondition, status: 'False', reason: 'PodFailed' }] }),
    reason: 'PodFailed',
  },
  {
    name: 'without an address',
    sandbox: aSandbox({}, { conditions: [readyCondition] }),
    reason: 'DependenciesReady',
  },
  { name: 'that is being deleted', sandbox: aSandbox({ deletionTimestamp: 'x' }), reason: 'Terminating' },
];
for (const { name, sandbox, reason } of notReady) {
  test(`a sandbox ${name} is known but not ready`, () => {
    const route = lookup(sandbox);
    assert.equal(route?.isReady, false);
    assert.equal(route?.reason, reason);
  });
}

test('a member of a warm pool is not there yet', () => {
  assert.equal(lookup(aSandbox({ labels: { 'agents.x-k8s.io/warm-pool-sandbox': 'x' } })), undefined);
});

test('a claim is known by its controller reference, and nothing else counts as one', () => {
  const claimUid = (more: object) => lookup(aSandbox({ ownerReferences: [{ ...owner, ...more }] }))?.claimUid;
  assert.equal(claimUid({ controller: true }), 'c-1');
  assert.equal(claimUid({}), undefined);
  assert.equal(claimUid({ controller: true, apiVersion: 'evil.io/v1' }), undefined);
  assert.equal(claimUid({ controller: true, kind: 'SandboxWarmPool' }), undefined);
});

test('an unknown sandbox has no route', () => assert.equal(lookup(), undefined));
