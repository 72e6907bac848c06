/**
 * Builds what a checkout needs before it can run, or only the parts named. Called by the launcher; says only
 * what it really did.
 */
import { join } from 'node:path';
import { bundleCli } from './cli.ts';
import { buildRuntime } from './runtime.ts';

const root = join(import.meta.dirname, '../..');
const dist = join(root, 'dist');

interface Step {
  readonly part: string;
  readonly name: string;
  /** Returns whether there was anything to do. */
  perform(): Promise<boolean>;
}

const steps: readonly Step[] = [
  { part: 'runtime', name: 'in-sandbox runtime', perform: () => buildRuntime(join(dist, 'runtime')) },
  { part: 'cli', name: 'executable', perform: () => bundleCli(root, join(dist, 'hutch')) },
];

const wanted = process.argv.slice(2);
for (const { part, name, perform } of steps) {
  if (wanted.length > 0 && !wanted.includes(part)) continue;
  const startedAt = performance.now();
  if (await perform()) {
    process.stderr.write(`built the ${name} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  }
}
