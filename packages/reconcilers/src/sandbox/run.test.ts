import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSandboxReady, newSandbox, type Sandbox, sandboxes } from '@hutch/api';
import { silentLog, systemClock } from '@hutch/base';
import { createInformer } from '@hutch/controller';
import { type Pod, pods } from '@hutch/kube-meta';
import { aSandbox, ownedPod, readyPod, stranger } from './fixtures.test.ts';
import { MemoryApi } from './memory-api.test.ts';
import { runSandboxController, sandboxesConcerned } from './run.ts';

test('a pod concerns the sandbox that controls or controlled it, and the one of its name', () => {
  const pod = ownedPod({ metadata: { name: 'warm-1' } });
  const released = ownedPod({ metadata: { name: 'warm-1', ownerReferences: [stranger] } });
  const namesOf = (keys: readonly { name: string }[]) => keys.map(({ name }) => name);
  assert.deepEqual(namesOf(sandboxesConcerned({ type: 'added', object: pod })), ['warm-1', 'box']);
  assert.deepEqual(namesOf(sandboxesConcerned({ type: 'modified', object: released, previous: pod })), [
    'warm-1',
    'box',
  ]);
  assert.deepEqual(namesOf(sandboxesConcerned({ type: 'added', object: released })), ['warm-1']);
});

test('a running controller takes sandboxes, old and new, to Ready', { timeout: 5000 }, async () => {
  const api = new MemoryApi();
  const stop = new AbortController();
  const { signal } = stop;
  api.put(sandboxes, aSandbox({ metadata: { name: 'old', uid: 'uid-of-old' } }));

  // Stands for a node: whatever pod appears, runs.
  const podCopy = createInformer<Pod>({ client: api, resource: pods });
  podCopy.onChange(({ type, object }) => {
    if (type === 'added') api.put(pods, { ...object, status: readyPod });
  });
  const sandboxCopy = createInformer<Sandbox>({ client: api, resource: sandboxes });
  const running = [
    podCopy.run(signal),
    sandboxCopy.run(signal),
    runSandboxController({ client: api, clock: systemClock, log: silentLog }, signal),
  ];

  await api.create<Sandbox>(sandboxes, newSandbox({ name: 'new', namespace: 'default' }));
  for (const name of ['old', 'new']) {
    const isReady = (sandbox: Sandbox | undefined) => sandbox !== undefined && isSandboxReady(sandbox);
    await sandboxCopy.waitFor({ namespace: 'default', name }, isReady, signal);
  }
  stop.abort();
  await Promise.all(running);
});
