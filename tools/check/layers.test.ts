import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { layerProblems } from './layers.ts';
import { readWorkspace } from './workspace.ts';

type Tree = Readonly<Record<string, string | object>>;

/** A member of the workspace with a README and an empty surface; a case adds what it is about. */
function member(dir: string, manifest: object = {}): Tree {
  const name = dir === 'apps/hutch' ? 'cli' : dir.split('/')[1];
  return {
    [`${dir}/package.json`]: { name: `@hutch/${name}`, exports: { '.': './src/index.ts' }, ...manifest },
    [`${dir}/README.md`]: 'What it is for.',
    [`${dir}/src/index.ts`]: '',
  };
}

const root: Tree = {
  'package.json': { name: 'root', devDependencies: { 'fast-check': '1', rolldown: '1' } },
};
const uses = (...names: string[]) => ({ dependencies: Object.fromEntries(names.map((name) => [name, '1'])) });

function problemsIn(tree: Tree): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'layers-'));
  try {
    for (const [path, content] of Object.entries({ ...root, ...tree })) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content));
    }
    return layerProblems(readWorkspace(dir)).map(({ place, message }) => `${place} ${message}`);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const good: Tree = {
  ...member('packages/base'),
  ...member('packages/kube-meta', { ...uses('@hutch/base'), devDependencies: { 'kubernetes-models': '1' } }),
  ...member('packages/api', uses('@hutch/base', '@hutch/kube-meta', 'zod')),
  ...member('packages/testing', uses('@hutch/api')),
  ...member('apps/hutch', uses('@hutch/api', 'commander')),
  'packages/base/src/index.ts': `export { pause } from './abort.ts';`,
  'packages/base/src/abort.ts': 'export const pause = 1;',
  'packages/kube-meta/src/index.ts': `import { pause } from '@hutch/base'; import type { V1Pod } from 'kubernetes-models/v1';`,
  'packages/api/src/index.ts': `import { z } from 'zod'; import type { Stats } from 'node:fs'; import '@hutch/kube-meta';`,
  'packages/api/src/index.test.ts': `import 'node:fs'; import 'fast-check'; import '@hutch/testing'; import './index.ts';`,
  'packages/testing/src/index.ts': `import '@hutch/api'; import { test } from 'node:test';`,
  'apps/hutch/src/main.ts': `import '@hutch/api'; import { Command } from 'commander'; import 'node:http'; await import('bun:ffi');`,
  'tools/build/main.ts': `import 'rolldown'; import '@hutch/api'; import './cli.ts';`,
  'tools/build/cli.ts': '',
};

test('layers: a tree that keeps every rule has no problems', () => {
  assert.deepEqual(problemsIn(good), []);
});

const cases: { name: string; tree: Tree; want: string[] }[] = [
  {
    name: 'a package that is not in the table of directions',
    tree: member('packages/utils'),
    want: ['packages/utils is not in the table of directions: add it, saying what it may import'],
  },
  {
    name: 'a package without a README',
    tree: { 'packages/sdk/package.json': { name: '@hutch/sdk' } },
    want: ['packages/sdk has no README.md: say what it is for and what it never does'],
  },
  {
    name: 'a manifest that declares a forbidden direction',
    tree: member('packages/storage', uses('@hutch/api')),
    want: ['packages/storage/package.json declares @hutch/api, which it must not import'],
  },
  {
    name: 'a manifest that depends on an app',
    tree: member('apps/runtime', uses('@hutch/cli')),
    want: ['apps/runtime/package.json declares @hutch/cli, which it must not import'],
  },
  {
    name: 'packages that depend on each other',
    tree: member('packages/base', uses('@hutch/kube-meta')),
    want: [
      'packages/base/package.json declares @hutch/kube-meta, which it must not import',
      '@hutch/base depends on itself: @hutch/base → @hutch/kube-meta → @hutch/base',
    ],
  },
  {
    name: 'an import that the manifest does not declare',
    tree: { 'packages/api/src/a.ts': `import 'left-pad';` },
    want: ['packages/api/src/a.ts:1 imports left-pad, which packages/api/package.json does not declare'],
  },
  {
    name: 'an undeclared import behind import()',
    tree: { 'packages/api/src/a.ts': `\nawait import('left-pad/deep');` },
    want: ['packages/api/src/a.ts:2 imports left-pad, which packages/api/package.json does not declare'],
  },
  {
    name: 'a development dependency loaded by the product',
    tree: { 'packages/kube-meta/src/a.ts': `import { V1Pod } from 'kubernetes-models/v1';` },
    want: [
      'packages/kube-meta/src/a.ts:1 imports kubernetes-models, which packages/kube-meta/package.json does not declare',
    ],
  },
  {
    name: 'a tool that uses what the root manifest does not declare',
    tree: { 'tools/a.ts': `import 'left-pad';` },
    want: ['tools/a.ts:1 imports left-pad, which package.json does not declare'],
  },
  {
    name: 'a type taken against the direction',
    tree: {
      ...member('packages/storage', { devDependencies: { '@hutch/api': '1' } }),
      'packages/storage/src/a.ts': `import type { Sandbox } from '@hutch/api';`,
    },
    want: ['packages/storage/src/a.ts:1 imports @hutch/api, which it must not import'],
  },
  {
    name: 'a path into another package',
    tree: { 'packages/api/src/a.ts': `import '../../base/src/abort.ts';` },
    want: ['packages/api/src/a.ts:1 reaches into packages/base: import its package by name'],
  },
  {
    name: 'a path from the tree into a package',
    tree: { 'test/e2e/a.test.ts': `import '../../packages/base/src/abort.ts';` },
    want: ['test/e2e/a.test.ts:1 reaches into packages/base: import its package by name'],
  },
  {
    name: 'a name behind the surface of another package',
    tree: { 'packages/api/src/a.ts': `import '@hutch/base/src/abort.ts';` },
    want: ['packages/api/src/a.ts:1 imports @hutch/base/src/abort.ts, which @hutch/base does not export'],
  },
  {
    name: 'a test imported by the product',
    tree: { 'packages/api/src/a.ts': `import './index.test.ts';` },
    want: ['packages/api/src/a.ts:1 imports test code (./index.test.ts) into the product'],
  },
  {
    name: 'a suite under a plain name imported by the product',
    tree: {
      'packages/base/src/suite.ts': `import { test } from 'node:test';`,
      'packages/base/src/a.ts': `import './suite.ts';`,
    },
    want: ['packages/base/src/a.ts:1 imports test code (./suite.ts) into the product'],
  },
  {
    name: 'the testing package imported by the product',
    tree: {
      ...member('packages/sdk', { devDependencies: { '@hutch/testing': '1' } }),
      'packages/sdk/src/a.ts': `import type {} from '@hutch/testing';`,
    },
    want: ['packages/sdk/src/a.ts:1 imports test code (@hutch/testing) into the product'],
  },
  {
    name: 'export star',
    tree: { 'packages/base/src/index.ts': `export * from './abort.ts';` },
    want: [
      'packages/base/src/index.ts:1 re-exports everything of ./abort.ts: name what belongs to the surface',
    ],
  },
  {
    name: 'modules that load each other',
    tree: {
      'packages/base/src/a.ts': `import './b.ts';`,
      'packages/base/src/b.ts': `import './a.ts';`,
    },
    want: [
      'packages/base/src/a.ts imports itself: packages/base/src/a.ts → packages/base/src/b.ts → packages/base/src/a.ts',
    ],
  },
  {
    name: 'Node in a package that must load anywhere',
    tree: { 'packages/api/src/index.ts': `\nimport 'node:fs';` },
    want: ['packages/api/src/index.ts:2 needs node:fs, but packages/api/src/index.ts must load anywhere'],
  },
  {
    name: 'Node behind the packages that a portable one loads',
    tree: { 'packages/base/src/abort.ts': `import 'fs';` },
    want: [
      'packages/base/src/abort.ts:1 needs fs, but packages/api/src/index.ts must load anywhere ' +
        '(packages/api/src/index.ts → packages/kube-meta/src/index.ts → packages/base/src/index.ts → packages/base/src/abort.ts)',
    ],
  },
];

for (const { name, tree, want } of cases) {
  test(`layers: found: ${name}`, () => {
    assert.deepEqual(problemsIn({ ...good, ...tree }), want);
  });
}

const allowed: { name: string; tree: Tree }[] = [
  {
    name: 'modules that know each other by type only, or load each other later',
    tree: {
      'packages/base/src/a.ts': `import type { B } from './b.ts';`,
      'packages/base/src/b.ts': `import './a.ts'; await import('./c.ts');`,
      'packages/base/src/c.ts': `import './b.ts';`,
    },
  },
  {
    name: 'a subpath that the manifest exports',
    tree: {
      ...member('packages/sdk', {
        exports: { '.': './src/index.ts', './kubernetes': './src/kubernetes.ts' },
      }),
      'packages/sdk/src/kubernetes.ts': `import 'node:fs';`,
      'bench/main.ts': `import '@hutch/sdk/kubernetes';`,
    },
  },
];

for (const { name, tree } of allowed) {
  test(`layers: allowed: ${name}`, () => {
    assert.deepEqual(problemsIn({ ...good, ...tree }), []);
  });
}
