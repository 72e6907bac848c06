// `npm run check`: everything that can be known without running the product.
//
// Layers come first, in this process; then the linters and the compiler, as many side by side as there
// are cores. Every step runs even when another fails, so one run tells all there is to mend.
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { runChild } from '../child.ts';
import { layerProblems } from './layers.ts';
import { readWorkspace } from './workspace.ts';

interface Finding {
  readonly isClean: boolean;
  readonly output: string;
}

interface Step {
  readonly name: string;
  /** What to do when it fails. */
  readonly remedy: string;
  readonly run: (signal: AbortSignal) => Promise<Finding>;
}

const root = resolve(import.meta.dirname, '../..');
const bin = resolve(root, 'node_modules/.bin');
const stepTimeoutMs = 5 * 60_000;

const steps: readonly Step[] = [
  {
    name: 'layers',
    remedy: 'import in the direction of ARCHITECTURE.md, or declare the dependency in the manifest',
    run: async () => layers(),
  },
  // The slowest first, so that the others fit beside them.
  { name: 'types', remedy: 'mend the types', run: tool('tsc', '-p', '.') },
  {
    name: 'promises',
    remedy: 'await the promise, or give it an owner that does',
    run: tool('oxlint', '--type-aware'),
  },
  {
    name: 'unused',
    remedy: 'remove what nothing uses (files, exports, dependencies), or use it',
    run: tool('knip', '--no-progress', '--no-config-hints'),
  },
  {
    name: 'format',
    remedy: 'run npm run format, then mend what is left by hand',
    run: tool('biome', 'check'),
  },
];

function layers(): Finding {
  const problems = layerProblems(readWorkspace(root));
  return {
    isClean: problems.length === 0,
    output: problems.map(({ place, message }) => `${place}: ${message}`).join('\n'),
  };
}

function tool(name: string, ...args: string[]): Step['run'] {
  return async (signal) => {
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` }; // the pinned Node runs them
    const options = { cwd: root, env, signal, timeoutMs: stepTimeoutMs };
    const { code, timedOut, output } = await runChild([resolve(bin, name), ...args], options);
    const late = timedOut ? `\nstopped after ${stepTimeoutMs / 1000} s` : '';
    return { isClean: code === 0, output: output.trim() + late };
  };
}

/** A step that breaks, say at a file that does not parse, has failed; the others still have their say. */
async function findingOf(step: Step, signal: AbortSignal): Promise<Finding> {
  try {
    return await step.run(signal);
  } catch (err) {
    signal.throwIfAborted();
    return { isClean: false, output: (err as Error).message };
  }
}

async function runStep(step: Step, signal: AbortSignal): Promise<boolean> {
  const started = performance.now();
  const { isClean, output } = await findingOf(step, signal);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${isClean ? 'ok    ' : 'FAILED'} ${step.name.padEnd(8)} ${seconds} s`);
  if (!isClean) console.log(`\n${output}\n`);
  return isClean;
}

async function main(signal: AbortSignal): Promise<number> {
  const waiting = [...steps];
  const failed: Step[] = [];
  const worker = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      if (!(await runStep(step, signal))) failed.push(step);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  for (const { name, remedy } of failed) console.log(`check failed: ${name}: ${remedy}`);
  return failed.length === 0 ? 0 : 1;
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)));
process.exitCode = await main(stop.signal);
