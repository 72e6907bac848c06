import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Import, importsOf } from './imports.ts';

/** What a manifest says that layering cares about. */
interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface SourceFile {
  /** From the root of the tree, with forward slashes. */
  readonly path: string;
  /** By its name, or because it draws on the test runner: a shared suite is test code too. */
  readonly isTest: boolean;
  readonly imports: readonly Import[];
}

/** A package, an app, or the tree's own code (tools, suites, benchmarks), which answers to the root manifest. */
export interface Unit {
  readonly kind: 'package' | 'app' | 'tree';
  /** `packages/api`, `apps/hutch`; empty for the tree. */
  readonly dir: string;
  readonly manifest: Manifest;
  readonly hasReadme: boolean;
  readonly files: readonly SourceFile[];
}

export interface Workspace {
  readonly tree: Unit;
  readonly members: readonly Unit[];
}

/** Reads every manifest and every source file's imports. Names nothing outside `root`. */
export function readWorkspace(root: string): Workspace {
  const manifests = globSync(['packages/*/package.json', 'apps/*/package.json'], { cwd: root });
  return {
    tree: readUnit(root, '', 'tree', ['{tools,test,bench,rigs}/**/*.ts']),
    members: manifests.sort().map((path) => {
      const dir = path.slice(0, -'/package.json'.length);
      return readUnit(root, dir, dir.startsWith('apps/') ? 'app' : 'package', [`${dir}/src/**/*.ts`]);
    }),
  };
}

function readUnit(root: string, dir: string, kind: Unit['kind'], sources: readonly string[]): Unit {
  return {
    kind,
    dir,
    manifest: JSON.parse(readFileSync(join(root, dir, 'package.json'), 'utf8')) as Manifest,
    hasReadme: existsSync(join(root, dir, 'README.md')),
    files: globSync(sources, { cwd: root })
      .sort()
      .map((path) => readSource(root, path)),
  };
}

function readSource(root: string, path: string): SourceFile {
  const imports = importsOf(path, readFileSync(join(root, path), 'utf8'));
  const isTest = path.endsWith('.test.ts') || imports.some(({ specifier }) => specifier === 'node:test');
  return { path, isTest, imports };
}
