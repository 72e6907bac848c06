/** Everything Hutch keeps on a machine lives under one directory. This file is its map. */
import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Fault } from '@hutch/base';

export interface DataDir {
  readonly root: string;
  /** Held for as long as a home runs here. */
  readonly lockFile: string;
  /** Where the running home can be reached. Readable by its owner only. */
  readonly endpointFile: string;
  readonly tokenFile: string;
  readonly kubeconfigFile: string;
  readonly storeFile: string;
  readonly certificatesDir: string;
  /** Shared by every home under this root. */
  readonly imagesDir: string;
  /** One directory for each `hutch run` that brought its own home. */
  readonly runsDir: string;
  readonly logFile: string;
}

export function defaultDataRoot(env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME;
  return join(state !== undefined && state !== '' ? state : join(homedir(), '.local', 'state'), 'hutch');
}

/** A home's directory. A run's home has its own root below `runs` and shares only the images. */
export function dataDirAt(root: string, imagesDir = join(resolve(root), 'images')): DataDir {
  const at = (name: string) => join(resolve(root), name);
  return {
    root: resolve(root),
    lockFile: at('lock'),
    endpointFile: at('endpoint.json'),
    tokenFile: at('admin.token'),
    kubeconfigFile: at('kubeconfig'),
    storeFile: at('store.db'),
    certificatesDir: at('certificates'),
    imagesDir,
    runsDir: at('runs'),
    logFile: at('hutch.log'),
  };
}

/**
 * Makes the directory if it is missing, and refuses one that another user could have put things into: what lies
 * here is read and run by root.
 */
export function makeDataDir({ root }: DataDir): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(root);
  if (uid === process.getuid?.() && (mode & 0o022) === 0) return;
  throw new Fault(
    'forbidden',
    `data directory ${root} must belong to you and be writable by nobody else; name another one with --data-dir`,
  );
}
