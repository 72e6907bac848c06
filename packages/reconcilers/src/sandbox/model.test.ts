/**
 * Random lives of one sandbox: users edit, the node acts, caches fall behind, processes die, calls fail. Whatever
 * happens, there is never a second pod, and once the world is quiet the reconciler is right and silent.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, type Sandbox } from '@hutch/api';
import { type Pod, pods, statusFault } from '@hutch/kube-meta';
import fc from 'fast-check';
import { aSandbox, now, readyPod } from './fixtures.test.ts';
import { Scene } from './scene.test.ts';

const later = '2031-01-01T00:00:00Z';
const earlier = '2029-01-01T00:00:00Z';

type Step = (scene: Scene) => void | Promise<void>;

function podOf(scene: Scene): Pod | undefined {
  return scene.api.all<Pod>(pods)[0];
}

const steps: Record<string, Step> = {
  suspend: (scene) => scene.edit({ operatingMode: 'Suspended' }),
  resume: (scene) => scene.edit({ operatingMode: 'Running' }),
  expire: (scene) => scene.edit({ shutdownTime: earlier }),
  revive: (scene) => scene.edit({ shutdownTime: later }),
  'pod runs': (scene) => {
    const pod = podOf(scene);
    if (pod && !pod.metadata.deletionTimestamp) scene.podBecomes(readyPod);
  },
  'pod fails': (scene) => {
    if (podOf(scene)) scene.podBecomes({ phase: 'Failed' });
  },
  'pod is killed': (scene) => {
    const pod = podOf(scene);
    if (pod) scene.api.remove(pods, pod.metadata);
  },
  'pod goes': (scene) => {
    const pod = podOf(scene);
    if (pod?.metadata.deletionTimestamp) scene.api.remove(pods, pod.metadata);
  },
  'pod loses its labels': (scene) => {
    const pod = podOf(scene);
    if (pod) scene.api.put(pods, { ...pod, metadata: { ...pod.metadata, labels: {} } });
  },
  'sandboxes are heard of': (scene) => scene.sandboxCache.catchUp(),
  'pods are heard of': (scene) => scene.podCache.catchUp(),
  'process dies': (scene) => scene.restart(),
  'time passes': (scene) => {
    scene.now = new Date(scene.now.getTime() + 1500);
  },
  pass: async (scene) => {
    await scene.pass();
  },
  'pass whose first write is lost': async (scene) => {
    const from = scene.api.writes.length;
    scene.api.failure = () =>
      scene.api.writes.length === from + 1 ? statusFault('unavailable', 'cut off') : undefined;
    await scene.pass().catch(() => {});
    scene.api.failure = () => undefined;
  },
};

/** Node and caches do what they do when nobody interferes, until a pass has nothing to write. */
async function settle(scene: Scene): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await steps['pod goes']?.(scene);
    await steps['pod runs']?.(scene);
    scene.now = new Date(scene.now.getTime() + 10_000);
    if ((await scene.freshPass()).writes.length === 0 && !podOf(scene)?.metadata.deletionTimestamp) return;
  }
  assert.fail('the reconciler never comes to rest');
}

function expectedReason({ spec }: Sandbox): string {
  if (spec.shutdownTime === earlier) return 'SandboxExpired';
  return spec.operatingMode === 'Suspended' ? 'SandboxSuspended' : 'DependenciesReady';
}

test('whatever happens, there is one pod at most, and in the end the right one or none', async () => {
  const names = Object.keys(steps);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names), { maxLength: 40 }), async (chosen) => {
      const scene = new Scene(aSandbox({ spec: { shutdownTime: later } }));
      scene.now = now;
      for (const name of chosen) {
        await steps[name]?.(scene);
        assert.ok(scene.api.all(pods).length <= 1, 'two pods');
      }
      await settle(scene);

      const { sandbox } = scene;
      const ready = findCondition(sandbox.status?.conditions, 'Ready');
      const reason = expectedReason(sandbox);
      assert.equal(ready?.reason, reason);
      assert.equal(ready?.observedGeneration, sandbox.metadata.generation);
      assert.equal(podOf(scene) !== undefined, reason === 'DependenciesReady');
      assert.deepEqual(sandbox.status?.podIPs !== undefined, reason === 'DependenciesReady');
    }),
    { numRuns: 300 },
  );
});
