import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsSystem, select, wantsKubernetes } from './select.ts';

const files = [
  'test/launcher/launcher.test.ts',
  'packages/node/src/network/veth.system.test.ts',
  'packages/base/src/fault.test.ts',
  'packages/base/node_modules/x/y.test.ts',
  'apps/hutch/src/cli/values.test.ts',
  'test/e2e/run.test.ts',
  'tools/check/layers.test.ts',
];

test('select: every file has one layer, and other people’s tests have none', () => {
  assert.deepEqual(select(files, undefined), {
    unit: [
      'apps/hutch/src/cli/values.test.ts',
      'packages/base/src/fault.test.ts',
      'tools/check/layers.test.ts',
    ],
    system: ['packages/node/src/network/veth.system.test.ts'],
    suite: ['test/e2e/run.test.ts', 'test/launcher/launcher.test.ts'],
  });
});

const filters: { only: string; want: string[] }[] = [
  { only: 'packages/base', want: ['packages/base/src/fault.test.ts'] },
  { only: 'run', want: ['test/e2e/run.test.ts'] },
  { only: 'nothing-like-it', want: [] },
];

for (const { only, want } of filters) {
  test(`select: only ${only} keeps the files with it in their path`, () => {
    const { unit, system, suite } = select(files, only);
    assert.deepEqual([...unit, ...system, ...suite], want);
  });
}

const needs: { path: string; want: boolean }[] = [
  { path: 'packages/node/src/network/veth.system.test.ts', want: true },
  { path: 'test/e2e/run.test.ts', want: true },
  { path: 'test/crash/store.test.ts', want: true },
  { path: 'test/launcher/launcher.test.ts', want: false },
  { path: 'packages/node/src/network/plan.test.ts', want: false },
];

for (const { path, want } of needs) {
  test(`select: ${path} ${want ? 'needs' : 'does not need'} root and the system parts`, () => {
    assert.equal(needsSystem(path), want);
  });
}

test('suites that compare with the real Kubernetes want its parts', () => {
  for (const path of [
    'rigs/kube/rig.system.test.ts',
    'test/clients/python.test.ts',
    'test/conformance/a.test.ts',
  ]) {
    assert.ok(wantsKubernetes(path), path);
  }
  assert.ok(!wantsKubernetes('test/e2e/run.test.ts'));
});
