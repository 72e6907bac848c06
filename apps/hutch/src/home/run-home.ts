/**
 * The home inside one `hutch run`: its own directory under `runs`, a store that forgets, free ports. Only the
 * image store is shared. It is swept away whole, by this process or, if that is killed, by the next one.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLog, silentLog } from '@hutch/base';
import { type PodTiming, type Stage, sweepHome } from '@hutch/node';
import { openMemoryStorage } from '@hutch/storage';
import { type DataDir, dataDirAt, makeDataDir } from './data-dir.ts';
import { startHome } from './home.ts';
import { HomeLock } from './lock.ts';
import { explainFailure, requireRoot } from './require-machine.ts';

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
  const sweeping = sweepRuns(dataDir, say);
  const place = bornRun(dataDir);
  const log = options.verbose ? jsonLog((line) => process.stderr.write(line), 'debug') : silentLog;
  const token = randomBytes(32).toString('base64url');
  const storage = openMemoryStorage();
  const remove = async () => {
    await storage[Symbol.asyncDispose]();
    rmSync(place.dir.root, { recursive: true, force: true });
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
    await sweeping;
    let closing: Promise<void> | undefined;
    const close = async () => {
      await home.drain();
      await remove();
    };
    return {
      router: home.router,
      token,
      failed: home.failed,
      [Symbol.asyncDispose]: () => (closing ??= close()),
    };
  } catch (err) {
    await sweepHome({ dataDir: place.dir.root, log: silentLog }).catch(() => {}); // told by the next sweep, which tries again
    await remove();
    throw await explainFailure(err);
  }
}

/** Made under another name and locked before it appears where sweepers look: none ever finds it ownerless. */
function bornRun(dataDir: DataDir): { dir: DataDir; lock: HomeLock } {
  const id = randomBytes(6).toString('hex');
  const cradle = join(dataDir.root, `.run-${id}`);
  mkdirSync(dataDir.runsDir, { recursive: true, mode: 0o711 });
  mkdirSync(cradle, { mode: 0o711 });
  const lock = HomeLock.tryAcquire(dataDirAt(cradle).lockFile);
  if (!lock) throw new Error(`new run directory ${cradle} is locked`);
  const root = join(dataDir.runsDir, id);
  renameSync(cradle, root);
  return { dir: dataDirAt(root, dataDir.imagesDir), lock };
}

/** Removes what killed runs left behind, and says what it was. A run whose lock is held is alive. */
export async function sweepRuns(dataDir: DataDir, say: (text: string) => void): Promise<void> {
  for (const id of namesIn(dataDir.runsDir)) {
    const dir = dataDirAt(join(dataDir.runsDir, id), dataDir.imagesDir);
    const lock = lockOf(dir);
    if (!lock) continue;
    const { removed, failures } = await sweepHome({ dataDir: dir.root, log: silentLog });
    if (failures.length === 0) rmSync(dir.root, { recursive: true, force: true });
    lock[Symbol.dispose]();
    const what = removed.length === 0 ? 'an empty directory' : removed.join(', ');
    say(`removed what an earlier run left behind: ${what}`);
    for (const failure of failures) say(`could not remove all of it: ${failure}; see: hutch doctor --fix`);
  }
}

function lockOf(dir: DataDir): HomeLock | undefined {
  try {
    return HomeLock.tryAcquire(dir.lockFile);
  } catch {
    return undefined; // another sweeper has just removed it
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
