import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, Pod } from '@hutch/kube-meta';
import { aPod, type PodCase } from '@hutch/testing';
import { bindCompleted, selectedNode } from '../volumes/match.ts';
import { aClaim, aClass, aVolume, onNode, tiedTo } from '../volumes/test-objects.ts';
import { type Decision, decide, type Observed } from './decide.ts';

const place = { metadata: { name: 'n1', labels: { host: 'n1', disk: 'ssd' } } };
const waiting = aClass('fast', { volumeBindingMode: 'WaitForFirstConsumer' });
const unmakeable = { ...waiting, provisioner: 'kubernetes.io/no-provisioner' };
const fullyBound = aClaim({
  metadata: { annotations: { [bindCompleted]: 'yes' } },
  spec: { volumeName: 'volume' },
});

const asking = (spec: PodCase['spec'] = {}) => aPod({ spec: spec ?? {} });
const withClaims = (...names: string[]): Pod =>
  asking({ volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) });
const required = (operator: 'In' | 'NotIn', values: string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator, values }] }],
    },
  },
});

function brief(decision: Decision): string {
  if (decision.type === 'prepare') return ['prepare', ...decision.steps.map(({ type }) => type)].join(' ');
  return decision.type === 'refuse' ? decision.message : decision.type;
}

const noRoom =
  'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
const misfit = (why: string) => `0/1 nodes are available: 1 node(s) ${why}. ${noRoom}`;

const cases: {
  name: string;
  pod?: Pod;
  given?: Partial<Observed>;
  claims?: PersistentVolumeClaim[];
  want: string;
}[] = [
  { name: 'a pod that asks for nothing is bound', want: 'bind' },
  {
    name: 'so is one that asks for what the node has',
    pod: asking({ nodeSelector: { disk: 'ssd' } }),
    want: 'bind',
  },
  {
    name: 'another disk is another node',
    pod: asking({ nodeSelector: { disk: 'hdd' } }),
    want: misfit("didn't match Pod's node affinity/selector"),
  },
  { name: 'affinity that holds is fine', pod: asking({ affinity: required('In', ['ssd']) }), want: 'bind' },
  {
    name: 'affinity that does not hold is not',
    pod: asking({ affinity: required('NotIn', ['ssd']) }),
    want: misfit("didn't match Pod's node affinity/selector"),
  },
  {
    name: 'a cordoned node takes nobody',
    given: { place: { ...place, spec: { unschedulable: true } } },
    want: misfit('were unschedulable'),
  },
  {
    name: 'a tainted node takes nobody who does not tolerate it',
    given: { place: { ...place, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } } },
    want: misfit('had untolerated taint(s)'),
  },
  {
    name: 'and everybody who does',
    pod: asking({ tolerations: [{ key: 'k', operator: 'Exists' }] }),
    given: { place: { ...place, spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } } },
    want: 'bind',
  },
  {
    name: 'a wish is no condition',
    given: { place: { ...place, spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } } },
    want: 'bind',
  },
  {
    name: 'a claim that is not there is waited for',
    pod: withClaims('missing'),
    want: '0/1 nodes are available: persistentvolumeclaim "missing" not found. not found',
  },
  {
    name: 'a claim on its way out is of no use',
    pod: withClaims('claim'),
    claims: [aClaim({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })],
    want: '0/1 nodes are available: persistentvolumeclaim "claim" is being deleted. not found',
  },
  {
    name: 'a claim that is to have its volume first is waited for',
    pod: withClaims('claim'),
    claims: [aClaim()],
    want: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
  },
  {
    name: 'a claim with its volume is fine',
    pod: withClaims('claim'),
    claims: [fullyBound],
    given: { volumes: [aVolume()] },
    want: 'bind',
  },
  {
    name: 'unless the volume is elsewhere',
    pod: withClaims('claim'),
    claims: [fullyBound],
    given: { volumes: [aVolume({ spec: { nodeAffinity: onNode('n2') } })] },
    want: misfit("didn't match PersistentVolume's node affinity"),
  },
  {
    name: 'a claim that waits for the pod gets a volume that fits the node',
    pod: withClaims('claim'),
    claims: [aClaim()],
    given: { storageClassOf: () => waiting, volumes: [aVolume()] },
    want: 'prepare reserve',
  },
  {
    name: 'what is reserved already is only waited for',
    pod: withClaims('claim'),
    claims: [aClaim()],
    given: { storageClassOf: () => waiting, volumes: [aVolume({ spec: { claimRef: tiedTo(aClaim()) } })] },
    want: 'prepare',
  },
  {
    name: 'if there is none, one is made where the pod will be',
    pod: withClaims('claim'),
    claims: [aClaim()],
    given: { storageClassOf: () => waiting },
    want: 'prepare select-node',
  },
  {
    name: 'that is said once',
    pod: withClaims('claim'),
    claims: [aClaim({ metadata: { annotations: { [selectedNode]: 'n1' } } })],
    given: { storageClassOf: () => waiting },
    want: 'prepare',
  },
  {
    name: 'where none can be made the pod waits for one',
    pod: withClaims('claim'),
    claims: [aClaim()],
    given: { storageClassOf: () => unmakeable },
    want: misfit("didn't find available persistent volumes to bind"),
  },
  {
    name: 'two claims of a pod never share a volume',
    pod: withClaims('claim', 'second'),
    claims: [aClaim(), aClaim({ metadata: { name: 'second' } })],
    given: { storageClassOf: () => waiting, volumes: [aVolume()] },
    want: 'prepare reserve select-node',
  },
  {
    name: 'a pod that asks for another node takes no volume here',
    pod: { ...withClaims('claim'), spec: { ...withClaims('claim').spec, nodeSelector: { disk: 'hdd' } } },
    claims: [aClaim()],
    given: { storageClassOf: () => waiting, volumes: [aVolume()] },
    want: misfit("didn't match Pod's node affinity/selector"),
  },
];
for (const { name, pod = aPod(), given, claims = [], want } of cases) {
  test(name, () => {
    const decision = decide({
      pod,
      place,
      claimOf: (claimName) => claims.find(({ metadata }) => metadata.name === claimName),
      volumes: [],
      storageClassOf: () => undefined,
      ...given,
    });
    assert.equal(brief(decision), want);
  });
}
