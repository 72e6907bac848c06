/** Where the in-sandbox runtime lies that this program was built with. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '@hutch/base';

/** Beside the bundle: dist/hutch/main.js and dist/runtime. */
export function runtimeDirectory(): string {
  const directory = join(dirname(process.argv[1] ?? ''), '..', 'runtime');
  if (!existsSync(join(directory, 'bin', 'hutch-runtime'))) {
    throw new Fault(
      'not-found',
      `the in-sandbox runtime is missing in ${directory}; build it with: npm run build`,
    );
  }
  return realpathSync(directory); // a link that later builds move on
}
