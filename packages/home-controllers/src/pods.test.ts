import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@hutch/kube-meta';
import { aPod } from '@hutch/testing';
import { waitsForNode } from './pods.ts';

const cases: { name: string; pod: Pod; want: boolean }[] = [
  { name: 'a new pod waits for a node', pod: aPod(), want: true },
  { name: 'a bound pod does not', pod: aPod({ spec: { nodeName: 'n' } }), want: false },
  { name: 'a pod on its way out does not', pod: aPod({ terminating: true }), want: false },
  { name: 'a gated pod does not', pod: aPod({ spec: { schedulingGates: [{ name: 'g' }] } }), want: false },
  { name: 'a finished pod does not', pod: aPod({ status: { phase: 'Failed' } }), want: false },
  { name: 'a pending pod does', pod: aPod({ status: { phase: 'Pending' } }), want: true },
];

for (const { name, pod, want } of cases) {
  test(name, () => assert.equal(waitsForNode(pod), want));
}
