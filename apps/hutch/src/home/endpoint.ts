/** Where a running home can be reached: written by `hutch up`, read by every other command. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { DataDir } from './data-dir.ts';
import { isRunning, type ProcessIdentity } from './process-identity.ts';

export interface Endpoint extends ProcessIdentity {
  readonly api: string;
  readonly router: string;
}

/** Whole or not at all: a reader never sees half a file. */
export function writePrivateFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

export function writeEndpoint(dir: DataDir, endpoint: Endpoint): void {
  writePrivateFile(dir.endpointFile, `${JSON.stringify(endpoint, undefined, 2)}\n`);
}

export function removeEndpoint(dir: DataDir): void {
  rmSync(dir.endpointFile, { force: true });
}

/** The home that runs here now, with the token that opens it; undefined when there is none. */
export function readEndpoint(dir: DataDir): (Endpoint & { readonly token: string }) | undefined {
  try {
    const endpoint = JSON.parse(readFileSync(dir.endpointFile, 'utf8')) as Endpoint;
    if (!isRunning(endpoint)) return undefined; // it was killed and left the file behind
    return { ...endpoint, token: readFileSync(dir.tokenFile, 'utf8').trim() };
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw err;
  }
}
