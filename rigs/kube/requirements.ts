import { isFault } from '@hutch/base';
import { runChild } from '../../tools/child.ts';
import { ensureKubeBinaries } from './binaries.ts';
import type { Making } from './cache.ts';

/** What a rig calls besides its own binaries, and where to get it. */
const tools: readonly { command: readonly string[]; from: string }[] = [
  { command: ['flock', '--version'], from: 'util-linux' },
  { command: ['setpriv', '--version'], from: 'util-linux' },
  { command: ['openssl', 'version'], from: 'openssl' },
];

/**
 * Why no rig can run on this machine, as the reason of a skipped test; undefined when one can. Builds what is not
 * built yet, so afterwards a rig opens in seconds. What is broken rather than missing is thrown.
 */
export async function whyNoKubeRig(making: Making): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'the Kubernetes rig needs Linux';
  for (const { command, from } of tools) {
    if (!(await runs(command, making.signal))) return `the Kubernetes rig needs ${command[0]} (${from})`;
  }
  try {
    await ensureKubeBinaries(making);
    return undefined;
  } catch (err) {
    if (isFault(err, 'unavailable')) return `the Kubernetes rig cannot be built here: ${err.message}`;
    throw err;
  }
}

async function runs(command: readonly string[], signal: AbortSignal): Promise<boolean> {
  try {
    const { code } = await runChild(command, { cwd: '/', signal, timeoutMs: 10_000 });
    return code === 0;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw err;
  }
}
