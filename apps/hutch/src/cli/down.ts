/** `hutch down`: asks the home to stop and waits until it has. */
import { Fault, pause } from '@hutch/base';
import type { DataDir } from '../home/data-dir.ts';
import { readEndpoint } from '../home/endpoint.ts';
import { HomeLock } from '../home/lock.ts';
import { isRunning } from '../home/process-identity.ts';

const patienceMs = 60_000;
/** The kernel gives a stranger no event for the end of a process that is not its child. */
const lookEveryMs = 20;

export async function down(dataDir: DataDir): Promise<number> {
  const endpoint = readEndpoint(dataDir);
  if (!endpoint) {
    const { clearDeadHome } = await import('../home/dead-home.ts');
    const removed = await clearDeadHome(dataDir);
    const remains =
      removed.length === 0 ? '' : `; removed what an earlier one left behind: ${removed.join(', ')}`;
    process.stderr.write(`hutch: no home is running in ${dataDir.root}${remains}\n`);
    return 0;
  }
  process.kill(endpoint.pid, 'SIGTERM');
  const deadline = performance.now() + patienceMs;
  // A process may look ended while its last threads still hold its files: only the lock tells that all are gone.
  while (isRunning(endpoint) || !isFree(dataDir)) {
    if (performance.now() > deadline) {
      throw new Fault(
        'timeout',
        `the home (pid ${endpoint.pid}) is still stopping after a minute; its log: ${dataDir.logFile}`,
      );
    }
    await pause(lookEveryMs);
  }
  return 0;
}

function isFree({ lockFile }: DataDir): boolean {
  using lock = HomeLock.tryAcquire(lockFile);
  return lock !== undefined;
}
