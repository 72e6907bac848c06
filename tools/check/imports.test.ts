import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Import, importsOf } from './imports.ts';

const plain = { line: 1, isLazy: false, isTypeOnly: false, isWholesaleExport: false };

const cases: { name: string; source: string; want: Partial<Import>[] }[] = [
  { name: 'a default import', source: `import a from 'a';`, want: [{ specifier: 'a' }] },
  { name: 'a bare import', source: `import './side.ts';`, want: [{ specifier: './side.ts' }] },
  { name: 'names over several lines', source: `import {\n a,\n b,\n} from "c";`, want: [{ specifier: 'c' }] },
  {
    name: 'import type is type-only',
    source: `import type { A } from 'a';`,
    want: [{ specifier: 'a', isTypeOnly: true }],
  },
  {
    name: 'a value named type is a value',
    source: `import type from 'a';`,
    want: [{ specifier: 'a' }],
  },
  {
    name: 'inline type names still load the module',
    source: `import { type A } from 'a';`,
    want: [{ specifier: 'a' }],
  },
  {
    name: 'an import inside a type is type-only',
    source: `let a: import('a').A;`,
    want: [{ specifier: 'a', isTypeOnly: true }],
  },
  { name: 'a re-export', source: `export { a } from 'a';`, want: [{ specifier: 'a' }] },
  {
    name: 'a type re-export',
    source: `export type { A } from 'a';`,
    want: [{ specifier: 'a', isTypeOnly: true }],
  },
  {
    name: 'export star, also under a name',
    source: `export * from 'a'; export * as b from 'b';`,
    want: [
      { specifier: 'a', isWholesaleExport: true },
      { specifier: 'b', isWholesaleExport: true },
    ],
  },
  {
    name: 'a dynamic import is lazy',
    source: `const a = await import('a'), b = await import(\`b\`);`,
    want: [
      { specifier: 'a', isLazy: true },
      { specifier: 'b', isLazy: true },
    ],
  },
  {
    name: 'a computed import is unknown',
    source: 'await import(name); await import(`./$' + '{name}`);',
    want: [],
  },
  {
    name: 'import.meta and plain exports name no module',
    source: 'export const a = import.meta.url;',
    want: [],
  },
  {
    name: 'the line is counted from one',
    source: `// one\n\nimport 'a';`,
    want: [{ specifier: 'a', line: 3 }],
  },
];

for (const { name, source, want } of cases) {
  test(`imports: ${name}`, () => {
    assert.deepEqual(
      importsOf('a.ts', source),
      want.map((part) => ({ ...plain, ...part })),
    );
  });
}

test('imports: a syntax error names the file', () => {
  assert.throws(() => importsOf('packages/a/src/b.ts', 'import {'), /parse packages\/a\/src\/b\.ts/);
});

test('imports: text that only looks like an import never counts, whatever stands around it', () => {
  const decoy = fc.constantFrom(
    `// import 'no';`,
    `/* import x from 'no'; */`,
    `void "import 'no'";`,
    `void 'export * from "no"';`,
    'void `import("no") $' + '{1 / 2} from "no"`;',
    `void /import 'no'/.test('/');`,
    `void (4 / 2 / 1);`,
    `if (globalThis) /'/.exec("'");`,
  );
  const real = fc.nat({ max: 99 }).map((n) => `import 'real-${n}';`);
  fc.assert(
    fc.property(fc.array(fc.oneof(decoy, real), { maxLength: 12 }), (lines) => {
      const want = lines.flatMap((line) => /^import '(real-\d+)'/.exec(line)?.[1] ?? []);
      const got = importsOf('a.ts', lines.join('\n')).map(({ specifier }) => specifier);
      assert.deepEqual(got, want);
    }),
  );
});
