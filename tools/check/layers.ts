// Which part may import which, enforced. Manifests say what a package uses; the table below says what it
// may use; the sources must agree with both. Each rule is one function from the workspace to problems.
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Import } from './imports.ts';
import type { SourceFile, Unit, Workspace } from './workspace.ts';

export interface Problem {
  /** A file with its line, or a folder. */
  readonly place: string;
  /** What is wrong and what to do instead. */
  readonly message: string;
}

const scope = '@hutch/';

/** The direction of imports between packages. Apps and `testing` may import any package; nothing imports an app. */
const mayImport: Readonly<Record<string, readonly string[] | 'any'>> = {
  base: [],
  'kube-meta': ['base'],
  storage: ['base'],
  'runtime-protocol': ['base'],
  api: ['kube-meta', 'base'],
  'kube-client': ['kube-meta', 'base'],
  controller: ['kube-client', 'kube-meta', 'base'],
  reconcilers: ['controller', 'kube-client', 'api', 'kube-meta', 'base'],
  'home-controllers': ['controller', 'kube-client', 'kube-meta', 'base'],
  node: ['controller', 'kube-client', 'kube-meta', 'base'],
  routing: ['controller', 'kube-client', 'api', 'runtime-protocol', 'kube-meta', 'base'],
  apiserver: ['storage', 'kube-meta', 'base'],
  sdk: ['api', 'runtime-protocol', 'base'],
  testing: 'any',
};

/** These load in any JavaScript engine: nothing reachable from their root entry may need Node or Bun. */
const loadsAnywhere: readonly string[] = ['api', 'runtime-protocol', 'sdk'];

/** Open to every test file without being declared again. */
const testSupport = `${scope}testing`;

export function layerProblems(workspace: Workspace): Problem[] {
  return [
    unlistedPackages,
    missingReadmes,
    forbiddenDependencies,
    packageCycles,
    undeclaredImports,
    importsAgainstDirection,
    importsPastTheSurface,
    testCodeInProduct,
    wholesaleExports,
    moduleCycles,
    nodeInPortablePackages,
  ].flatMap((rule) => rule(workspace));
}

function unlistedPackages({ members }: Workspace): Problem[] {
  return members
    .filter(({ kind, dir }) => kind === 'package' && !(folder(dir) in mayImport))
    .map(({ dir }) => ({
      place: dir,
      message: 'is not in the table of directions: add it, saying what it may import',
    }));
}

function missingReadmes({ members }: Workspace): Problem[] {
  return members
    .filter(({ hasReadme }) => !hasReadme)
    .map(({ dir }) => ({
      place: dir,
      message: 'has no README.md: say what it is for and what it never does',
    }));
}

function forbiddenDependencies({ members }: Workspace): Problem[] {
  return members.flatMap((unit) =>
    Object.keys(unit.manifest.dependencies ?? {})
      .filter((name) => name.startsWith(scope) && !isInDirection(unit, name, members))
      .map((name) => ({
        place: `${unit.dir}/package.json`,
        message: `declares ${name}, which it must not import`,
      })),
  );
}

function packageCycles({ members }: Workspace): Problem[] {
  const uses = new Map(
    members.map(({ manifest }) => [
      manifest.name,
      Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith(scope)),
    ]),
  );
  return cycles(uses).map((cycle) => ({
    place: cycle[0] as string,
    message: `depends on itself: ${cycle.join(' → ')}`,
  }));
}

function undeclaredImports({ tree, members }: Workspace): Problem[] {
  return [tree, ...members].flatMap((unit) =>
    problemsOfImports(unit, (file, { specifier, isTypeOnly }) => {
      const name = packageName(specifier);
      if (name === undefined || name === unit.manifest.name) return undefined;
      const declared = { ...unit.manifest.dependencies };
      if (isTypeOnly || file.isTest || unit.kind === 'tree')
        Object.assign(declared, unit.manifest.devDependencies);
      if (file.isTest) Object.assign(declared, tree.manifest.devDependencies, { [testSupport]: '' });
      if (unit.kind === 'tree' && name.startsWith(scope)) return undefined; // the tree's code uses every surface
      if (name in declared) return undefined;
      return `imports ${name}, which ${unit.dir && `${unit.dir}/`}package.json does not declare`;
    }),
  );
}

/** Declared or not, and types too: the knowledge must flow one way. Tests may look further. */
function importsAgainstDirection({ tree, members }: Workspace): Problem[] {
  return [tree, ...members].flatMap((unit) =>
    problemsOfImports(unit, (file, { specifier }) => {
      const name = packageName(specifier);
      if (file.isTest || !name?.startsWith(scope) || name === unit.manifest.name) return undefined;
      if (name === testSupport || isInDirection(unit, name, members)) return undefined; // testing has its own rule
      return `imports ${name}, which it must not import`;
    }),
  );
}

function importsPastTheSurface({ tree, members }: Workspace): Problem[] {
  return [tree, ...members].flatMap((unit) =>
    problemsOfImports(unit, (file, { specifier }) => {
      if (specifier.startsWith('.')) {
        const target = resolved(file, specifier);
        const owner = members.find(({ dir }) => target.startsWith(`${dir}/`)) ?? tree;
        return owner === unit
          ? undefined
          : `reaches into ${owner.dir || 'the tree'}: import its package by name`;
      }
      const name = packageName(specifier);
      const owner = members.find(({ manifest }) => manifest.name === name);
      if (!owner || name === undefined) return undefined;
      const entry = `.${specifier.slice(name.length)}`;
      return entry in (owner.manifest.exports ?? {})
        ? undefined
        : `imports ${specifier}, which ${name} does not export`;
    }),
  );
}

function testCodeInProduct({ members }: Workspace): Problem[] {
  const tests = new Set(
    members.flatMap(({ files }) => files.filter((file) => file.isTest).map(({ path }) => path)),
  );
  return members
    .filter(({ manifest }) => manifest.name !== testSupport)
    .flatMap((unit) =>
      problemsOfImports(unit, (file, { specifier }) => {
        if (file.isTest) return undefined;
        const isTestCode = packageName(specifier) === testSupport || tests.has(resolved(file, specifier));
        return isTestCode ? `imports test code (${specifier}) into the product` : undefined;
      }),
    );
}

function wholesaleExports({ tree, members }: Workspace): Problem[] {
  return [tree, ...members].flatMap((unit) =>
    problemsOfImports(unit, (_file, { isWholesaleExport, specifier }) =>
      isWholesaleExport
        ? `re-exports everything of ${specifier}: name what belongs to the surface`
        : undefined,
    ),
  );
}

function moduleCycles({ tree, members }: Workspace): Problem[] {
  const uses = new Map<string, string[]>();
  for (const file of [tree, ...members].flatMap(({ files }) => files)) {
    const loaded = file.imports.filter(({ specifier, isLazy, isTypeOnly }) => {
      return specifier.startsWith('.') && !isLazy && !isTypeOnly;
    });
    uses.set(
      file.path,
      loaded.map(({ specifier }) => resolved(file, specifier)),
    );
  }
  return cycles(uses).map((cycle) => ({
    place: cycle[0] as string,
    message: `imports itself: ${cycle.join(' → ')}`,
  }));
}

/** Follows what is loaded from each portable entry, through other packages too, and tells the way to the engine's own modules. */
function nodeInPortablePackages({ members }: Workspace): Problem[] {
  const files = new Map(members.flatMap((unit) => unit.files.map((file) => [file.path, file])));
  const follow = (path: string, seen: Set<string>, way: readonly string[]): Problem[] => {
    const file = files.get(path);
    if (!file || seen.has(path)) return [];
    seen.add(path);
    return file.imports
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .flatMap(({ specifier, line }) => {
        if (isHostModule(specifier)) {
          const via = way.length > 0 ? ` (${[...way, path].join(' → ')})` : '';
          return [
            {
              place: `${path}:${line}`,
              message: `needs ${specifier}, but ${way[0] ?? path} must load anywhere${via}`,
            },
          ];
        }
        return follow(entryFile(file, specifier, members), seen, [...way, path]);
      });
  };
  return members
    .filter(({ kind, dir }) => kind === 'package' && loadsAnywhere.includes(folder(dir)))
    .flatMap(({ dir }) => follow(`${dir}/src/index.ts`, new Set(), []));
}

function problemsOfImports(
  unit: Unit,
  judge: (file: SourceFile, found: Import) => string | undefined,
): Problem[] {
  return unit.files.flatMap((file) =>
    file.imports.flatMap((found) => {
      const message = judge(file, found);
      return message === undefined ? [] : [{ place: `${file.path}:${found.line}`, message }];
    }),
  );
}

function isInDirection(unit: Unit, name: string, members: readonly Unit[]): boolean {
  const target = members.find(({ manifest }) => manifest.name === name);
  if (target?.kind === 'app') return false;
  const allowed = unit.kind === 'package' ? mayImport[folder(unit.dir)] : 'any';
  return allowed === 'any' || allowed === undefined || allowed.includes(name.slice(scope.length));
}

/** The file a specifier loads: beside the importer, or the entry of a package of ours. */
function entryFile(file: SourceFile, specifier: string, members: readonly Unit[]): string {
  if (specifier.startsWith('.')) return resolved(file, specifier);
  const name = packageName(specifier);
  const owner = members.find(({ manifest }) => manifest.name === name);
  const target = owner?.manifest.exports?.[`.${specifier.slice(name?.length)}`];
  return owner && target ? posix.join(owner.dir, target) : specifier;
}

function resolved(file: SourceFile, specifier: string): string {
  return posix.join(posix.dirname(file.path), specifier);
}

/** `@scope/name` or `name` of what a bare specifier loads; undefined for a path or a part of the engine. */
function packageName(specifier: string): string | undefined {
  if (specifier.startsWith('.') || isHostModule(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Part of the engine that runs the code: no manifest declares it, and another engine lacks it. */
function isHostModule(specifier: string): boolean {
  return isBuiltin(specifier) || specifier.startsWith('bun:');
}

function folder(dir: string): string {
  return posix.basename(dir);
}

/** Each group of nodes that reach themselves, told once, as the way around. */
function cycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (node: string, way: readonly string[]) => {
    const start = way.indexOf(node);
    if (start !== -1) found.push([...way.slice(start), node]);
    if (start !== -1 || done.has(node)) return;
    for (const next of edges.get(node) ?? []) visit(next, [...way, node]);
    done.add(node);
  };
  for (const node of edges.keys()) visit(node, []);
  return found;
}
