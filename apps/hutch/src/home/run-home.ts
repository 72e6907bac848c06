/**
 * The home inside one `hutch run`: its own directory under `runs`, a store that forgets, free ports. Only the
 * image store is shared. It is swept away whole, by this process or, if that is killed, by the next one.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLog, silentLog } from '@hutch/base';
import { type PodTiming, type Stage, sweepHome } from '@hutch/node';
import { openMemoryStorage } from '@hutch/storage';
import { type DataDir, dataDirAt, makeDataDir } from './data-dir.ts';
import { startHome } from './home.ts';
import { HomeLock } from './lock.ts';
import { explainFailure, requireRoot } from './require-machine.ts';
import { cradlePrefix, sweepRuns } from './sweep-runs.ts';

export interface RunHomeOptions {
  readonly dataDir: DataDir;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly verbose: boolean;
  readonly onPodStage?: (timing: PodTiming, stage: Stage) => void;
}

export interface RunHome extends AsyncDisposable {
  readonly router: string;
  readonly token: string;
  /** Rejects when a part of the home has failed. */
  readonly failed: Promise<never>;
}

export async function startRunHome(options: RunHomeOptions): Promise<RunHome> {
  requireRoot();
  const { dataDir, say, signal } = options;
  makeDataDir(dataDir);
  await sweepRuns(dataDir, say); // before we take a place that a dead run may have had
  const place = bornRun(dataDir);
  const log = options.verbose ? jsonLog((line) => process.stderr.write(line), 'debug') : silentLog;
  const token = randomBytes(32).toString('base64url');
  const storage = openMemoryStorage();
  /** What could not be removed stays listed in the directory, where the next sweep finds it. */
  const leave = async (failures: readonly string[]) => {
    await storage[Symbol.asyncDispose]();
    if (failures.length === 0) rmSync(place.dir.root, { recursive: true, force: true });
    else say(`could not remove all of the sandbox, the next run tries again: ${failures.join('; ')}`);
    place.lock[Symbol.dispose]();
  };
  try {
    signal.throwIfAborted();
    const home = await startHome({
      dataDir: place.dir,
      storage,
      adminToken: token,
      log,
      onPodStage: options.onPodStage,
    });
    let closing: Promise<void> | undefined;
    const close = async () => await leave((await home.drain()).failures);
    return {
      router: home.router,
      token,
      failed: home.failed,
      [Symbol.asyncDispose]: () => (closing ??= close()),
    };
  } catch (err) {
    const report = await sweepHome({ dataDir: place.dir.root, log: silentLog }).catch(() => undefined);
    await leave(report?.failures ?? []); // without its tools a home has made nothing yet
    throw await explainFailure(err);
  }
}

const maxBirths = 5;

/**
 * Made under another name and locked before it appears where sweepers look: none ever finds it ownerless. A sweeper
 * that finds it between its making and its locking takes it away; then another one is made.
 */
function bornRun(dataDir: DataDir): { dir: DataDir; lock: HomeLock } {
  mkdirSync(dataDir.runsDir, { recursive: true, mode: 0o700 });
  for (let birth = 1; ; birth++) {
    const id = randomBytes(6).toString('hex');
    const cradle = join(dataDir.runsDir, `${cradlePrefix}${id}`);
    const root = join(dataDir.runsDir, id);
    try {
      mkdirSync(cradle, { mode: 0o700 });
      const lock = HomeLock.tryAcquire(dataDirAt(cradle).lockFile);
      if (!lock) continue;
      renameSync(cradle, root);
      return { dir: dataDirAt(root, dataDir.imagesDir), lock };
    } catch (err) {
      if (birth === maxBirths || (err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
    }
  }
}
