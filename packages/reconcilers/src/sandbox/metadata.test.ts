import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  claimUidLabel,
  createdByLabel,
  propagatedAnnotationsAnnotation,
  propagatedLabelsAnnotation,
  type Sandbox,
  templateRefHashLabel,
  trackingLabel,
  warmPoolLabel,
} from '@hutch/api';
import type { DraftMeta, OwnerReference, StringMap } from '@hutch/kube-meta';
import { aSandbox, ownedPod } from './fixtures.test.ts';
import { desiredMetadata, type MetadataPatch, metadataDrift } from './metadata.ts';

const tracked = { [trackingLabel]: '70c67e32' };

function templated(labels: StringMap, annotations: StringMap = {}, metadata: DraftMeta = {}): Sandbox {
  const spec = { containers: [] };
  return aSandbox({ metadata, spec: { podTemplate: { spec, metadata: { labels, annotations } } } });
}

function owner(kind: string): OwnerReference {
  return {
    apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
    kind,
    name: 'o',
    uid: 'uid-of-o',
    controller: true,
  };
}

test('a pod without template metadata carries only the tracking label (SB-55, SB-56)', () => {
  assert.deepEqual(desiredMetadata(aSandbox()), { labels: tracked, annotations: {} });
});

test('template metadata is copied and recorded, sorted (SB-73); the sandbox’s own is not', () => {
  const sandbox = templated(
    { b: '2', a: '1' },
    { note: 'x' },
    { labels: { own: '1' }, annotations: { own: '1' } },
  );
  assert.deepEqual(desiredMetadata(sandbox), {
    labels: { a: '1', b: '2', ...tracked },
    annotations: {
      note: 'x',
      [propagatedLabelsAnnotation]: 'a,b',
      [propagatedAnnotationsAnnotation]: 'note',
    },
  });
});

test('reserved keys in a template are ignored (SB-78, T14)', () => {
  const sandbox = templated(
    { [trackingLabel]: 'forged', 'extensions.agents.x-k8s.io/x': '1', [claimUidLabel]: 'forged' },
    { 'agents.x-k8s.io/pod-name': 'x', 'opentelemetry.io/trace-context': '{}' },
  );
  assert.deepEqual(desiredMetadata(sandbox), { labels: tracked, annotations: {} });
});

const own = {
  [warmPoolLabel]: 'pool-hash',
  [templateRefHashLabel]: 'template-hash',
  [claimUidLabel]: 'claim-uid',
};
const controlled: { name: string; metadata: DraftMeta; want: StringMap }[] = [
  {
    name: 'a pool passes on pool and template (SB-75)',
    metadata: { labels: own, ownerReferences: [owner('SandboxWarmPool')] },
    want: { [warmPoolLabel]: 'pool-hash', [templateRefHashLabel]: 'template-hash' },
  },
  {
    name: 'a claim passes on template and claim uid',
    metadata: { labels: own, ownerReferences: [owner('SandboxClaim')] },
    want: { [templateRefHashLabel]: 'template-hash', [claimUidLabel]: 'claim-uid' },
  },
  { name: 'without such an owner nothing is passed on (SB-76)', metadata: { labels: own }, want: {} },
  {
    name: 'a known creator is named (SB-77)',
    metadata: { labels: { [createdByLabel]: 'python-client' } },
    want: { [createdByLabel]: 'python-client' },
  },
  {
    name: 'another creator is unknown (SB-77)',
    metadata: { labels: { [createdByLabel]: 'me' } },
    want: { [createdByLabel]: 'unknown' },
  },
];

for (const { name, metadata, want } of controlled) {
  test(name, () => {
    const { labels } = desiredMetadata(aSandbox({ metadata }));
    assert.deepEqual(labels, { ...tracked, ...want });
  });
}

const drifts: {
  name: string;
  sandbox: Sandbox;
  labels?: StringMap;
  annotations?: StringMap;
  want?: MetadataPatch;
}[] = [
  { name: 'a pod as it should be needs no patch (SB-81)', sandbox: aSandbox(), labels: tracked },
  {
    name: 'an empty record is as good as none (SB-80)',
    sandbox: aSandbox(),
    labels: tracked,
    annotations: { [propagatedLabelsAnnotation]: '' },
  },
  {
    name: 'a manual edit of a template label is reverted (SB-73)',
    sandbox: templated({ a: '1' }),
    labels: { ...tracked, a: 'edited', other: 'stays' },
    annotations: { [propagatedLabelsAnnotation]: 'a' },
    want: { labels: { a: '1' } },
  },
  {
    name: 'what the template no longer names is taken back, what others added stays (SB-74, T13)',
    sandbox: templated({ a: '1' }),
    labels: { ...tracked, a: '1', old: '1', 'agents.x-k8s.io/theirs': '1' },
    annotations: {
      [propagatedLabelsAnnotation]: 'a,old',
      [propagatedAnnotationsAnnotation]: 'gone',
      gone: '1',
      'kubernetes.io/x': '1',
    },
    want: {
      labels: { old: null },
      annotations: {
        gone: null,
        [propagatedLabelsAnnotation]: 'a',
        [propagatedAnnotationsAnnotation]: null,
      },
    },
  },
  {
    name: 'reserved keys that an old record names are scrubbed, the tracking label is not (SB-79)',
    sandbox: templated({ 'custom-label': '1' }),
    labels: { ...tracked, 'custom-label': '1', 'agents.x-k8s.io/evil': '1' },
    annotations: { [propagatedLabelsAnnotation]: `custom-label,agents.x-k8s.io/evil,${trackingLabel}` },
    want: {
      labels: { 'agents.x-k8s.io/evil': null },
      annotations: { [propagatedLabelsAnnotation]: 'custom-label' },
    },
  },
  {
    name: 'pool labels leave the pod when the sandbox leaves the pool (SB-159)',
    sandbox: aSandbox({ metadata: { labels: own, ownerReferences: [owner('SandboxClaim')] } }),
    labels: { ...tracked, [warmPoolLabel]: 'pool-hash', [templateRefHashLabel]: 'template-hash' },
    want: { labels: { [warmPoolLabel]: null, [claimUidLabel]: 'claim-uid' } },
  },
  {
    name: 'a creator that is no longer named leaves the pod (SB-77, T19)',
    sandbox: aSandbox(),
    labels: { ...tracked, [createdByLabel]: 'controller' },
    want: { labels: { [createdByLabel]: null } },
  },
];

for (const { name, sandbox, labels = {}, annotations = {}, want } of drifts) {
  test(name, () => {
    assert.deepEqual(metadataDrift(sandbox, ownedPod({ metadata: { labels, annotations } })), want);
  });
}
