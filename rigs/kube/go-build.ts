/** Builds programs of a pinned Go module into the cache. The module's checksums decide what is compiled. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '@hutch/base';
import { runChild } from '../../tools/child.ts';
import { cacheName, cachePlace, ensureMade, type Making } from './cache.ts';
import { findGo } from './go-tool-chain.ts';
import { dyingWithUs } from './processes.ts';

export interface GoProgram {
  readonly name: string;
  /** Import path, or a path that starts with a dot. */
  readonly package: string;
  /** Variables that the linker sets, by their full name. */
  readonly stamps?: Readonly<Record<string, string>>;
}

export interface GoModule {
  /** What the directory in the cache is called, before the hash. */
  readonly name: string;
  readonly directory: string;
  /** Files besides go.mod and go.sum that the programs are made of. */
  readonly sources?: readonly string[];
  readonly programs: readonly GoProgram[];
}

const fetchTimeoutMs = 10 * 60_000;
const buildTimeoutMs = 30 * 60_000;

/** Without the builder's paths and without symbols: the same everywhere and half the size. */
const buildFlags = ['-trimpath'];

export function builtPlace(module: GoModule): string {
  return cachePlace(nameOf(module));
}

function nameOf({ name, directory, sources = [], programs }: GoModule): string {
  const files = ['go.mod', 'go.sum', ...sources].map((file) => readFileSync(join(directory, file)));
  return cacheName(name, [...files, JSON.stringify([buildFlags, programs])]);
}

/**
 * The directory with the module's programs, built now if they are not there. Minutes the first time.
 *
 * Throws `unavailable` when this machine has no way to build: no tool chain, or the modules cannot be
 * fetched. Modules that do not match their checksums, or do not compile, are plain errors.
 */
export async function ensureBuilt(module: GoModule, making: Making): Promise<string> {
  return await ensureMade(nameOf(module), making, async (target) => {
    const go = await findGo(making);
    await fetchModules(go, module, making);
    for (const [index, program] of module.programs.entries()) {
      making.say(`building ${program.name} (${index + 1} of ${module.programs.length})`);
      await build(go, module, { program, target, signal: making.signal });
    }
  });
}

async function fetchModules(go: string, { directory, name, programs }: GoModule, { signal, say }: Making) {
  say(`fetching the Go modules of ${name}`);
  const packages = programs.map((program) => program.package);
  const { code, output } = await runChild(
    [...dyingWithUs, go, 'list', '-deps', '-f', '{{if .Error}}{{.Error}}{{end}}', ...packages],
    { cwd: directory, env: goEnvironment(), signal, timeoutMs: fetchTimeoutMs },
  );
  if (code === 0) return;
  const detail = `fetch the Go modules of ${name}: ${lastLines(output)}`;
  // Without a network nobody can build; but a module that is not what we pinned must never be skipped over.
  if (/checksum mismatch|SECURITY ERROR|missing go\.sum entry/.test(output)) throw new Error(detail);
  throw new Fault('unavailable', detail);
}

async function build(
  go: string,
  { directory }: GoModule,
  { program, target, signal }: { program: GoProgram; target: string; signal: AbortSignal },
): Promise<void> {
  const stamps = Object.entries(program.stamps ?? {}).map(([variable, value]) => `-X ${variable}=${value}`);
  const linker = `-ldflags=${['-s', '-w', ...stamps].join(' ')}`;
  const output = ['-o', join(target, program.name)];
  const command = ['nice', '-n', '10', go, 'build', ...buildFlags, linker, ...output, program.package];
  const result = await runChild([...dyingWithUs, ...command], {
    cwd: directory,
    env: goEnvironment(),
    signal,
    timeoutMs: buildTimeoutMs,
  });
  if (result.timedOut)
    throw new Error(`build ${program.name}: not done after ${buildTimeoutMs / 60_000} minutes`);
  if (result.code !== 0) throw new Error(`build ${program.name}: ${lastLines(result.output)}`);
}

/** What the module files say and nothing else: no other tool chain, no workspace, no flags of the user's. */
function goEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=readonly -buildvcs=false',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
  };
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-20).join('\n');
}
