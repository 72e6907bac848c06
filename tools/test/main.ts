// `npm run test:unit` and `npm test`.
//
//   unit   every *.test.ts beside its source, in one process
//   all    check, build, unit, then *.system.test.ts and test/**: a process each, one after the other,
//          since they make containers, networks and mounts on one machine
//
// Everything that can still run does, whatever failed before. The last line is always
// `N passed, N failed, N skipped`; above it stand every skip with its reason and every failure with its place.
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runChild } from '../child.ts';
import { type Outcome, summary, tally, tallyLine } from './outcome.ts';
import { runFiles } from './run-files.ts';
import { needsSystem, select, testFileGlobs, wantsKubernetes } from './select.ts';

const root = resolve(import.meta.dirname, '../..');
const minuteMs = 60_000;
/** Far above the half minute that units may take, since a loaded machine is no failure; a hang is. */
const unitTimeoutMs = 3 * minuteMs;
const unitBudgetMs = minuteMs / 2;
const fileTimeoutMs = 8 * minuteMs;
const stepTimeoutMs = 10 * minuteMs;
/** Building the real Kubernetes parts takes about ten minutes on two cores, the first time. */
const prepareTimeoutMs = 15 * minuteMs;
const totalTimeMs = 25 * minuteMs;

const usage = 'usage: node tools/test/main.ts unit|all [--only PART-OF-A-PATH]';

/** One run: collects outcomes and says a short line as each part ends. */
class Run {
  readonly outcomes: Outcome[] = [];
  readonly #signal: AbortSignal;
  readonly #endsAtMs = performance.now() + totalTimeMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async files(label: string, files: readonly string[], timeoutMs: number): Promise<void> {
    const leftMs = this.#endsAtMs - performance.now();
    const fail = (detail: string) =>
      this.outcomes.push({ result: 'failed', name: 'all tests', place: label, detail });
    if (leftMs <= 0) return void fail(`not run: the ${totalTimeMs / minuteMs} minutes were over`);
    const options = { root, signal: this.#signal, timeoutMs: Math.min(timeoutMs, leftMs) };
    const started = performance.now();
    const outcomes = await runFiles(files, options);
    this.outcomes.push(...outcomes);
    say(`${label}: ${tallyLine(tally(outcomes))}`, started);
  }

  /** A step that is no test. True when it went well; otherwise it counts as one failure. */
  async step(name: string, command: readonly string[]): Promise<boolean> {
    const started = performance.now();
    const { code, output } = await runChild(command, {
      cwd: root,
      signal: this.#signal,
      timeoutMs: stepTimeoutMs,
    });
    if (code !== 0)
      this.outcomes.push({ result: 'failed', name, place: command.at(-1) as string, detail: output });
    say(`${name}: ${code === 0 ? 'ok' : 'FAILED'}`, started);
    return code === 0;
  }

  /** Makes something that some tests would like to have. They say themselves what they skip without it. */
  async prepare(name: string, command: readonly string[]): Promise<void> {
    const started = performance.now();
    const limits = { cwd: root, signal: this.#signal, timeoutMs: prepareTimeoutMs };
    const { code, output } = await runChild(command, limits);
    say(`${name}: ${code === 0 ? 'ok' : `not here, ${output.trim().split('\n').at(-1)}`}`, started);
  }

  skip(file: string, reason: string): void {
    this.outcomes.push({ result: 'skipped', name: 'all tests', place: file, reason });
    console.log(`${file}: skipped, ${reason}`);
  }

  /** Why tests with real containers cannot run here; undefined when they can. Installs what is missing, as root. */
  async missingFromSystem(): Promise<string | undefined> {
    if (process.getuid?.() !== 0) return 'needs root';
    const command = ['sh', 'tools/launch/system-parts.sh'];
    const { code, output } = await runChild(command, {
      cwd: root,
      signal: this.#signal,
      timeoutMs: stepTimeoutMs,
    });
    return code === 0 ? undefined : `needs system parts: ${output.trim().split('\n').at(-1)}`;
  }
}

function say(text: string, startedMs: number): void {
  console.log(`${text} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
}

async function runUnits(run: Run, files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const started = performance.now();
  await run.files(files.length === 1 ? (files[0] as string) : 'unit', files, unitTimeoutMs);
  if (performance.now() - started > unitBudgetMs)
    console.log('unit tests took more than the 30 s they may take');
}

async function runOnSystem(run: Run, files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const isBuilt = await run.step('build', [process.execPath, 'tools/build/main.ts']);
  const missing = files.some(needsSystem) ? await run.missingFromSystem() : undefined;
  if (files.some(wantsKubernetes)) {
    await run.prepare('real Kubernetes parts', [process.execPath, 'rigs/kube/main.ts', 'build']);
  }
  for (const file of files) {
    if (!isBuilt) run.skip(file, 'the build failed');
    else if (missing !== undefined && needsSystem(file)) run.skip(file, missing);
    else await run.files(file, [file], fileTimeoutMs);
  }
}

async function main(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { only: { type: 'string' } },
  });
  const [mode, ...rest] = positionals;
  if ((mode !== 'unit' && mode !== 'all') || rest.length > 0) throw new Error(usage);

  const selected = select(globSync([...testFileGlobs], { cwd: root }), values.only);
  const onSystem = mode === 'all' ? [...selected.system, ...selected.suite] : [];
  if (selected.unit.length + onSystem.length === 0)
    throw new Error(`no test file has ${values.only} in its path`);

  const run = new Run(signal);
  let code = 1;
  try {
    if (mode === 'all' && values.only === undefined)
      await run.step('check', [process.execPath, 'tools/check/main.ts']);
    await runUnits(run, selected.unit);
    await runOnSystem(run, onSystem);
    code = tally(run.outcomes).failed === 0 ? 0 : 1;
  } catch (err) {
    if (!signal.aborted) throw err;
    run.outcomes.push({
      result: 'failed',
      name: 'the run',
      place: 'npm test',
      detail: (err as Error).message,
    });
    code = 130;
  }
  console.log(summary(run.outcomes));
  return code;
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
}
try {
  process.exitCode = await main(process.argv.slice(2), stop.signal);
} catch (err) {
  console.error((err as Error).message);
  process.exitCode = 2;
}
