/**
 * Bundles the executable into dist/hutch: CommonJS, because an ES module that imports node:http makes
 * Node load its whole fetch implementation at start-up; split, because a command should load only its own code.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { publish } from './versions.ts';

/** Always bundles: that takes less time than finding out whether it is needed. */
export async function bundleCli(root: string, outDir: string): Promise<boolean> {
  const bundle = await rolldown({
    input: { main: join(root, 'apps/hutch/src/main.ts') },
    platform: 'node',
    external: /^node:/,
  });
  try {
    await publish(outDir, randomBytes(8).toString('hex'), async (draft) => {
      await bundle.write({
        dir: draft,
        format: 'cjs',
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
      });
      writeFileSync(join(draft, 'package.json'), '{ "type": "commonjs" }\n');
    });
  } finally {
    await bundle.close();
  }
  return true;
}
