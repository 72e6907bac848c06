import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adoptableLabel, podNameAnnotation, type Sandbox, trackingLabel, warmPoolLabel } from '@hutch/api';
import type { Pod } from '@hutch/kube-meta';
import { aPod } from '@hutch/testing';
import { type Action, decide } from './decide.ts';
import { aSandbox, now, ownedPod, stranger, suspended } from './fixtures.test.ts';

const past = '2030-01-01T00:10:00Z'; // equal to now counts as reached
const pointing = (podName: string) => ({ annotations: { [podNameAnnotation]: podName } });
const unowned = (labels: Record<string, string> = {}) => aPod({ metadata: { name: 'box', labels } });
const foreign = aPod({ metadata: { name: 'box', ownerReferences: [stranger] } });

interface Case {
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly pods?: readonly Pod[];
  readonly want: readonly Action['type'][];
  /** What the Ready condition will complain of. */
  readonly trouble?: RegExp;
  readonly requeueAfterMs?: number;
}

const cases: Case[] = [
  // Running
  { name: 'running without a pod creates it', sandbox: aSandbox(), want: ['create-pod', 'write-status'] },
  {
    name: 'a mode nobody knows means running (SB-52)',
    sandbox: aSandbox({ spec: { operatingMode: 'Napping' as 'Running' } }),
    want: ['create-pod', 'write-status'],
  },
  {
    name: 'a pod that is as it should be is left alone (SB-81)',
    sandbox: aSandbox(),
    pods: [ownedPod()],
    want: ['write-status'],
  },
  {
    name: 'a terminating pod of ours keeps its place (SB-51)',
    sandbox: aSandbox(),
    pods: [ownedPod({ terminating: true })],
    want: ['write-status'],
  },
  {
    name: 'a pod that ended is neither deleted nor replaced (SB-122)',
    sandbox: aSandbox(),
    pods: [ownedPod({ status: { phase: 'Failed' } })],
    want: ['write-status'],
  },
  {
    name: 'a pod without its tracking label gets it back (SB-72)',
    sandbox: aSandbox(),
    pods: [ownedPod({ metadata: { labels: {} } })],
    want: ['patch-pod', 'write-status'],
  },
  {
    name: 'two living pods of ours are both left alone (SB-120)',
    sandbox: aSandbox(),
    pods: [ownedPod(), ownedPod({ metadata: { name: 'box-2', uid: 'uid-2' } })],
    want: ['write-status'],
  },
  {
    name: 'of two pods the terminating one does not count',
    sandbox: aSandbox(),
    pods: [ownedPod({ terminating: true }), ownedPod({ metadata: { name: 'box-2', uid: 'uid-2' } })],
    want: ['point-to-pod', 'write-status'],
  },

  // The pod-name annotation
  {
    name: 'an annotation that leads nowhere is removed with the create (SB-45)',
    sandbox: aSandbox({ metadata: pointing('gone') }),
    want: ['create-pod', 'point-to-pod', 'write-status'],
  },
  {
    name: 'an annotation that already names the pod is kept',
    sandbox: aSandbox({ metadata: pointing('box') }),
    want: ['create-pod', 'write-status'],
  },
  {
    name: 'an owned pod of another name is used and pointed to (SB-48, SB-49)',
    sandbox: aSandbox({ metadata: pointing('gone') }),
    pods: [ownedPod({ metadata: { name: 'warm-1' } })],
    want: ['point-to-pod', 'write-status'],
  },
  {
    name: 'an owned pod is preferred to the adoptable one the annotation names (SB-50, T16)',
    sandbox: aSandbox({ metadata: pointing('offered') }),
    pods: [ownedPod(), aPod({ metadata: { name: 'offered', labels: { [adoptableLabel]: 'true' } } })],
    want: ['point-to-pod', 'write-status'],
  },

  // Pods of others
  {
    name: 'an unowned pod that is offered is adopted (SB-65)',
    sandbox: aSandbox(),
    pods: [unowned({ [adoptableLabel]: 'true' })],
    want: ['adopt-pod', 'write-status'],
  },
  {
    name: 'an offered pod of another name is adopted when the annotation names it (SB-162)',
    sandbox: aSandbox({ metadata: pointing('offered') }),
    pods: [aPod({ metadata: { name: 'offered', labels: { [adoptableLabel]: 'true' } } })],
    want: ['adopt-pod', 'write-status'],
  },
  {
    name: 'adoptable must be exactly true (SB-67)',
    sandbox: aSandbox(),
    pods: [unowned({ [adoptableLabel]: 'yes' })],
    want: ['write-status'],
    trouble: /pod default\/box exists without an owner/,
    requeueAfterMs: 10_000,
  },
  {
    name: 'the tracking label alone, which anybody can compute, does not offer a pod',
    sandbox: aSandbox(),
    pods: [unowned({ [trackingLabel]: '374de8f5' })],
    want: ['write-status'],
    trouble: /not offered for adoption/,
    requeueAfterMs: 10_000,
  },
  {
    name: "another controller's pod is refused and no longer pointed to (SB-64)",
    sandbox: aSandbox({ metadata: pointing('box') }),
    pods: [foreign],
    want: ['point-to-pod', 'write-status'],
    trouble: /pod default\/box is owned by ReplicaSet other \(uid-of-other\)/,
    requeueAfterMs: 10_000,
  },
  {
    name: 'a pod of an earlier sandbox of the same name is foreign (SB-128)',
    sandbox: aSandbox(),
    pods: [ownedPod({}, aSandbox({ metadata: { uid: 'uid-of-predecessor' } }))],
    want: ['write-status'],
    trouble: /is owned by Sandbox box/,
    requeueAfterMs: 10_000,
  },

  // What cannot be had
  {
    name: 'volume claims are refused until they are served, and no pod pretends otherwise',
    sandbox: aSandbox({ spec: { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] } }),
    want: ['write-status'],
    trouble: /^spec.volumeClaimTemplates is not served yet$/,
  },
  {
    name: 'a Service asked for later takes Ready away, but not the pod',
    sandbox: aSandbox({ spec: { service: true } }),
    pods: [ownedPod()],
    want: ['write-status'],
    trouble: /^spec.service is not served yet$/,
  },

  // Suspended
  {
    name: 'suspended deletes its pod (SB-99)',
    sandbox: suspended(),
    pods: [ownedPod()],
    want: ['delete-pod', 'write-status'],
  },
  {
    name: 'suspended deletes every pod of ours',
    sandbox: suspended(),
    pods: [ownedPod(), ownedPod({ metadata: { name: 'box-2', uid: 'uid-2' } })],
    want: ['delete-pod', 'delete-pod', 'write-status'],
  },
  {
    name: 'a pod on its way out is not deleted twice (SB-100)',
    sandbox: suspended({ metadata: pointing('box') }),
    pods: [ownedPod({ terminating: true })],
    want: ['write-status'],
  },
  {
    name: 'when the pod is gone nothing is pointed to (SB-102)',
    sandbox: suspended({ metadata: pointing('warm-1') }),
    want: ['point-to-pod', 'write-status'],
  },
  {
    name: "suspended leaves others' pods alone (SB-103)",
    sandbox: suspended(),
    pods: [foreign],
    want: ['write-status'],
    requeueAfterMs: 10_000,
  },
  {
    name: 'a suspended pod is not relabelled (SB-82)',
    sandbox: suspended(),
    pods: [ownedPod({ terminating: true, metadata: { labels: { [warmPoolLabel]: 'x' } } })],
    want: ['write-status'],
  },

  // Shutdown time
  {
    name: 'before its time a sandbox runs, and is looked at again then, to the millisecond',
    sandbox: aSandbox({ spec: { shutdownTime: '2030-01-01T00:10:00.250Z' } }),
    pods: [ownedPod()],
    want: ['write-status'],
    requeueAfterMs: 250,
  },
  {
    name: 'a time far beyond what timers hold is asked for as it is: waiting in steps is the clock’s business (SB-109)',
    sandbox: aSandbox({ spec: { shutdownTime: '2130-01-01T00:00:00Z' } }),
    pods: [ownedPod()],
    want: ['write-status'],
    requeueAfterMs: Date.parse('2130-01-01T00:00:00Z') - now.getTime(),
  },
  {
    name: 'at its time the status is told first, then every pod of ours goes (SB-108)',
    sandbox: aSandbox({ spec: { shutdownTime: past }, metadata: pointing('gone') }),
    pods: [ownedPod(), ownedPod({ metadata: { name: 'box-2', uid: 'uid-2' } })],
    want: ['write-status', 'delete-pod', 'delete-pod'],
  },
  {
    name: 'a sandbox past its time never gets a pod (SB-26), whatever its mode (SB-115)',
    sandbox: suspended({ spec: { shutdownTime: past } }),
    want: ['write-status'],
  },
  {
    name: 'policy Delete deletes the sandbox as well (SB-112)',
    sandbox: aSandbox({ spec: { shutdownTime: past, shutdownPolicy: 'Delete' } }),
    pods: [ownedPod()],
    want: ['write-status', 'delete-pod', 'delete-sandbox'],
  },
  {
    name: "others' pods survive the shutdown (SB-111)",
    sandbox: aSandbox({ spec: { shutdownTime: past } }),
    pods: [foreign],
    want: ['write-status'],
  },
  {
    name: 'a shutdown time nobody can read means never',
    sandbox: aSandbox({ spec: { shutdownTime: 'soon' } }),
    pods: [ownedPod()],
    want: ['write-status'],
  },

  {
    name: 'a sandbox that is being deleted is left alone (SB-23)',
    sandbox: aSandbox({ metadata: { deletionTimestamp: past } }),
    pods: [ownedPod()],
    want: [],
  },
];

for (const { name, sandbox, pods = [], want, trouble, requeueAfterMs } of cases) {
  test(name, () => {
    const decision = decide({ sandbox, pods }, now);
    assert.deepEqual(
      decision.actions.map(({ type }) => type),
      want,
    );
    if (trouble) assert.match(decision.trouble?.message ?? '', trouble);
    else assert.equal(decision.trouble, undefined);
    assert.equal(decision.requeueAfterMs, requeueAfterMs);
  });
}

test('adoption adds our ownership to what the pod has, in one patch bound to what was read (SB-65, SB-68)', () => {
  const user = { apiVersion: 'v1', kind: 'ConfigMap', name: 'user', uid: 'uid-of-user' };
  const pod = aPod({
    metadata: {
      name: 'box',
      uid: 'uid-of-offered',
      resourceVersion: '41',
      labels: { [adoptableLabel]: 'true', mine: 'yes' },
      ownerReferences: [user],
    },
  });
  const [adopt] = decide({ sandbox: aSandbox(), pods: [pod] }, now).actions;
  assert.deepEqual(adopt?.type === 'adopt-pod' && adopt.patch, {
    metadata: {
      uid: 'uid-of-offered',
      resourceVersion: '41',
      labels: { [trackingLabel]: '70c67e32' },
      ownerReferences: [
        user,
        {
          apiVersion: 'agents.x-k8s.io/v1beta1',
          kind: 'Sandbox',
          name: 'box',
          uid: 'uid-of-box',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
  });
});

test('args without a command cannot be run under an injected runtime, and only the user can mend that', () => {
  const sandbox = aSandbox({
    spec: {
      podTemplate: {
        metadata: { annotations: { 'hutch.internal/runtime': 'inject' } },
        spec: { containers: [{ name: 'main', image: 'x', args: ['--verbose'] }] },
      },
    },
  });
  const { actions, trouble } = decide({ sandbox, pods: [] }, now);
  assert.deepEqual(actions, [{ type: 'write-status' }]);
  assert.equal(trouble?.reason, 'InvalidConfiguration');
});
