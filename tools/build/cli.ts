/**
 * Bundles the executable into dist/hutch: CommonJS, because an ES module that imports node:http makes
 * Node load its whole fetch implementation at start-up; split, because a command should load only its own code.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Writes beside `outDir` and swaps, so that a start during a build finds the old bundle or the new one. */
export async function bundleCli(root: string, outDir: string): Promise<boolean> {
  const draft = `${outDir}.${process.pid}.new`;
  const old = `${outDir}.${process.pid}.old`;
  try {
    await writeBundle(join(root, 'apps/hutch/src/main.ts'), draft);
    rmSync(old, { recursive: true, force: true });
    try {
      renameSync(outDir, old);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err; // the first build has nothing to replace
    }
    renameSync(draft, outDir);
    return true; // bundling takes less time than finding out whether it is needed
  } finally {
    for (const directory of [draft, old]) rmSync(directory, { recursive: true, force: true });
  }
}

async function writeBundle(entry: string, outDir: string): Promise<void> {
  const bundle = await rolldown({
    input: { main: entry },
    platform: 'node',
    external: /^node:/,
  });
  try {
    await bundle.write({
      dir: outDir,
      format: 'cjs',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    });
  } finally {
    await bundle.close();
  }
  writeFileSync(join(outDir, 'package.json'), '{ "type": "commonjs" }\n');
}
