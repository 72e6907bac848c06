/**
 * The home of `hutch up`: SQLite, an HTTPS door with its own CA, a kubeconfig, and an address that other
 * commands find. After it was killed, the next one takes its sandboxes over as they are.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ApiServer, ensureCertificates, serveHttps } from '@hutch/apiserver';
import { type Log, systemClock } from '@hutch/base';
import { openSqliteStorage } from '@hutch/storage';
import type { DataDir } from './data-dir.ts';
import { removeEndpoint, writeEndpoint, writePrivateFile } from './endpoint.ts';
import { startHome } from './home.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { listen, type Port } from './listen.ts';
import { HomeLock } from './lock.ts';
import { ownIdentity } from './process-identity.ts';
import { explainFailure, requireRoot } from './require-machine.ts';
import { sweepRuns } from './sweep-runs.ts';

export interface LastingHomeOptions {
  readonly dataDir: DataDir;
  readonly routerPort?: number | undefined;
  readonly apiPort?: number | undefined;
  readonly log: Log;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface LastingHome extends AsyncDisposable {
  readonly router: string;
  readonly api: string;
  /** Rejects when a part of the home has failed. */
  readonly failed: Promise<never>;
}

const defaultRouterPort = 8080;
const defaultApiPort = 6443;

/** Undefined when another home owns the data directory. */
export async function startLastingHome(options: LastingHomeOptions): Promise<LastingHome | undefined> {
  requireRoot();
  const { dataDir, log } = options;
  await using opened = new AsyncDisposableStack();
  const lock = HomeLock.tryAcquire(dataDir.lockFile);
  if (!lock) return undefined;
  opened.use(lock);
  try {
    await sweepRuns(dataDir, options.say);
    const storage = opened.use(openSqliteStorage(dataDir.storeFile));
    const adminToken = readOrMakeToken(dataDir);
    const certificates = await ensureCertificates(dataDir.certificatesDir, { clock: systemClock });
    const routerPort = portOf(options.routerPort, defaultRouterPort);
    let api = '';
    const openDoor = async (server: ApiServer) => {
      const serve = (port: number) => serveHttps(server, { ...certificates, port });
      const door = await listen(portOf(options.apiPort, defaultApiPort), serve);
      api = door.url;
      return door;
    };
    const home = await startHome({ dataDir, storage, adminToken, routerPort, openDoor, log });
    opened.defer(async () => {
      for (const failure of (await home.drain()).failures)
        options.say(`could not remove all of it: ${failure}`);
    });
    options.signal.throwIfAborted();
    writePrivateFile(
      dataDir.kubeconfigFile,
      kubeconfigText({ server: api, caPem: certificates.ca, token: adminToken }),
    );
    writeEndpoint(dataDir, { ...ownIdentity(), api: api, router: home.router });
    opened.defer(() => removeEndpoint(dataDir));
    const close = opened.move();
    return {
      router: home.router,
      api: api,
      failed: home.failed,
      [Symbol.asyncDispose]: () => close.disposeAsync(),
    };
  } catch (err) {
    throw await explainFailure(err);
  }
}

function readOrMakeToken({ tokenFile }: DataDir): string {
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
    const token = randomBytes(32).toString('base64url');
    writePrivateFile(tokenFile, `${token}\n`);
    return token;
  }
}

function portOf(asked: number | undefined, usual: number): Port {
  return { number: asked ?? usual, isFixed: asked !== undefined };
}
