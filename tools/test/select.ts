/** The layers of tests, from the cheapest to the most real. */
type Layer = 'unit' | 'system' | 'suite';

export interface Selection {
  readonly unit: readonly string[];
  /** Beside the source, but with root and the system parts. */
  readonly system: readonly string[];
  /** Across packages, on what was built. */
  readonly suite: readonly string[];
}

/** Every file the runner may run, as globs from the root. */
export const testFileGlobs: readonly string[] = ['{packages,apps,tools,bench,test,rigs}/**/*.test.ts'];

const systemSuites = ['test/e2e/', 'test/crash/'];

function layerOf(path: string): Layer {
  if (path.startsWith('test/')) return 'suite';
  return path.endsWith('.system.test.ts') ? 'system' : 'unit';
}

/** True for what makes real containers and networks: root and the system parts must be there. */
export function needsSystem(path: string): boolean {
  return path.endsWith('.system.test.ts') || systemSuites.some((folder) => path.startsWith(folder));
}

/** Sorts files into layers; with `only`, those whose path contains it. */
export function select(files: readonly string[], only: string | undefined): Selection {
  const wanted = files.filter((path) => !path.includes('node_modules/') && path.includes(only ?? '')).sort();
  const of = (layer: Layer) => wanted.filter((path) => layerOf(path) === layer);
  return { unit: of('unit'), system: of('system'), suite: of('suite') };
}

/** Tests that ask a real kube-apiserver where one can be had. */
export function wantsKubernetes(path: string): boolean {
  return /^(rigs|test\/(clients|conformance))\//.test(path);
}
