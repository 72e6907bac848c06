/**
 * The home of `hutch up`: SQLite, an HTTPS door with its own CA, a kubeconfig, and an address that other
 * commands find. After it was killed, the next one takes its sandboxes over as they are.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ensureCertificates, type HttpDoor, serveHttps } from '@hutch/apiserver';
import { type Log, systemClock } from '@hutch/base';
import { openSqliteStorage } from '@hutch/storage';
import type { DataDir } from './data-dir.ts';
import { removeEndpoint, writeEndpoint, writePrivateFile } from './endpoint.ts';
import { startHome } from './home.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { HomeLock } from './lock.ts';
import { ownIdentity } from './process-identity.ts';
import { explainFailure, requireRoot } from './require-machine.ts';
import { sweepRuns } from './run-home.ts';

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
    const [home, certificates] = await Promise.all([
      startHome({
        dataDir,
        storage,
        adminToken,
        routerPort: options.routerPort ?? defaultRouterPort,
        isPortFixed: options.routerPort !== undefined,
        log,
      }),
      ensureCertificates(dataDir.certificatesDir, { clock: systemClock }),
    ]);
    opened.defer(() => home.drain());
    const serve = (port: number) => serveHttps(home.server, { ...certificates, port });
    const door = opened.use(await listenApi(options.apiPort, serve));
    writePrivateFile(
      dataDir.kubeconfigFile,
      kubeconfigText({ server: door.url, caPem: certificates.ca, token: adminToken }),
    );
    writeEndpoint(dataDir, { ...ownIdentity(), api: door.url, router: home.router });
    opened.defer(() => removeEndpoint(dataDir));
    const close = opened.move();
    return {
      router: home.router,
      api: door.url,
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

async function listenApi(
  asked: number | undefined,
  serve: (port: number) => Promise<HttpDoor>,
): Promise<HttpDoor> {
  try {
    return await serve(asked ?? defaultApiPort);
  } catch (err) {
    if (asked !== undefined || (err as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw err;
    return await serve(0);
  }
}
