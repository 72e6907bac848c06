/** Removes what killed runs left behind. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, silentLog } from '@hutch/base';
import { sweepHome } from '@hutch/node';
import { type DataDir, dataDirAt } from './data-dir.ts';
import { HomeLock } from './lock.ts';

/** What the directory of a run is called until it is locked. */
export const cradlePrefix = 'new-';

/** Says what it removed. A run whose lock is held is alive. One that cannot be removed does not stop the others. */
export async function sweepRuns(dataDir: DataDir, say: (text: string) => void): Promise<void> {
  for (const id of namesIn(dataDir.runsDir)) {
    const dir = dataDirAt(join(dataDir.runsDir, id), dataDir.imagesDir);
    try {
      using lock = lockOf(dir);
      if (lock) await sweepRun(dir, say);
    } catch (err) {
      say(`could not remove what an earlier run left in ${dir.root}: ${messageOf(err)}`);
    }
  }
}

async function sweepRun(dir: DataDir, say: (text: string) => void): Promise<void> {
  const { removed, failures } = await sweepHome({ dataDir: dir.root, log: silentLog });
  if (failures.length === 0) rmSync(dir.root, { recursive: true, force: true });
  if (removed.length > 0) say(`removed what an earlier run left behind: ${removed.join(', ')}`);
  for (const failure of failures) say(`could not remove all of what an earlier run left: ${failure}`);
}

function lockOf({ root, lockFile }: DataDir): HomeLock | undefined {
  try {
    return HomeLock.tryAcquire(lockFile);
  } catch (err) {
    if (!existsSync(root)) return undefined; // another sweeper was faster
    throw err;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw err;
  }
}
