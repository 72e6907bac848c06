/**
 * Builds the in-sandbox runtime: one compiled program with its own loader and C library beside it, so that it
 * runs in any image when started through that loader:
 *
 *   lib/ld.so --library-path lib bin/hutch-runtime serve
 *
 * Built only when something it is made from has changed.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, glob, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { interpreterOf } from './elf.ts';
import { publish } from './versions.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const entry = join(root, 'apps/runtime/src/main.ts');
const sources = [
  'apps/runtime/src/**/*.ts',
  'packages/base/src/**/*.ts',
  'packages/runtime-protocol/src/**/*.ts',
  'tools/build/{elf,runtime,versions}.ts',
];
const stampName = 'inputs.sha256';

/** Returns whether there was anything to build. */
export async function buildRuntime(outDir: string, signal?: AbortSignal): Promise<boolean> {
  const bun = bunProgram();
  const libraries = await librariesOf(bun);
  const stamp = await hashInputs([bun, ...libraries.values()]);
  if (await isUpToDate(outDir, stamp)) return false;

  await publish(outDir, stamp.slice(0, 16), async (draft) => {
    await mkdir(join(draft, 'bin'));
    await mkdir(join(draft, 'lib'));
    await compile(bun, join(draft, 'bin/hutch-runtime'), signal);
    for (const [name, path] of libraries) await copyFile(path, join(draft, 'lib', name));
    await writeFile(join(draft, stampName), stamp);
    await chmod(draft, 0o755); // a temporary directory is private; this one is for every user of a sandbox
  });
  return true;
}

function bunProgram(): string {
  const cpu = { x64: 'x64', arm64: 'aarch64' }[process.arch as string];
  if (!cpu) throw new Error(`build the runtime for ${process.arch}: only x64 and arm64 are known`);
  return createRequire(import.meta.url).resolve(`@oven/bun-linux-${cpu}/bin/bun`);
}

async function compile(bun: string, outFile: string, signal: AbortSignal | undefined): Promise<void> {
  const flags = [
    '--compile',
    '--bytecode',
    '--minify',
    '--target=bun',
    '--external=zigpty', // the terminal of the Node side only
    // The working directory belongs to the sandbox's user: nothing found there may configure the runtime.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    '--no-compile-autoload-tsconfig',
    '--no-compile-autoload-package-json',
  ];
  // The compiler drops files beside the program while it works; there they go away with the draft.
  await run(bun, ['build', ...flags, `--outfile=${outFile}`, entry], {
    cwd: dirname(outFile),
    ...(signal && { signal }),
  });
}

/** What the program loads, by the name it is looked up by, with the loader itself as `ld.so`. */
async function librariesOf(program: string): Promise<Map<string, string>> {
  const loader = interpreterOf(await readStart(program));
  if (!loader) throw new Error(`find the loader of ${program}: it is a static program`);
  const libraries = new Map([['ld.so', loader]]);
  // Asked of the loader itself: where libraries live differs between distributions.
  const { stdout } = await run(loader, ['--list', program]);
  for (const [, name, path] of stdout.matchAll(/^\s*(\S+) => (\/\S+)/gm)) {
    if (name && path && basename(name) !== basename(loader)) libraries.set(basename(name), path);
  }
  return libraries;
}

async function readStart(file: string): Promise<Buffer> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
  return buffer.subarray(0, bytesRead);
}

/** Our sources by content; the compiler and the system's libraries, which are large, by size and time. */
async function hashInputs(binaries: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const binary of binaries) {
    const { size, mtimeMs } = await stat(binary);
    hash.update(`${binary} ${size} ${mtimeMs}\n`);
  }
  const files: string[] = [];
  for await (const file of glob(sources, { cwd: root })) if (!file.endsWith('.test.ts')) files.push(file);
  for (const file of files.sort()) hash.update(`${file}\n`).update(await readFile(join(root, file)));
  return hash.digest('hex');
}

async function isUpToDate(outDir: string, stamp: string): Promise<boolean> {
  const file = join(outDir, stampName);
  return existsSync(file) && (await readFile(file, 'utf8')) === stamp;
}
