/** What a home that was killed left on the machine. Its objects stay in the store. */
import { existsSync } from 'node:fs';
import { silentLog } from '@hutch/base';
import { sweepHome } from '@hutch/node';
import type { DataDir } from './data-dir.ts';
import { HomeLock } from './lock.ts';

/** Removes it and tells what it was. Nothing is touched when there is nothing, or a home is running after all. */
export async function clearDeadHome(dataDir: DataDir): Promise<readonly string[]> {
  if (!existsSync(dataDir.lockFile)) return [];
  using lock = HomeLock.tryAcquire(dataDir.lockFile);
  if (!lock) return [];
  return (await sweepHome({ dataDir: dataDir.root, log: silentLog })).removed;
}
