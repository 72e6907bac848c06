/** `hutch up -d`: the same home, in a process of its own that outlives this one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '@hutch/base';
import { type DataDir, makeDataDir } from './data-dir.ts';

/** Told to the home that it was started like this, and which descriptor its starter waits on. */
export const readyFdVariable = 'HUTCH_READY_FD';

export interface DetachedOptions {
  readonly signal: AbortSignal;
  readonly args?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Resolves when the home answers; rejects with what it said when it ended instead. */
export async function startDetached(
  dataDir: DataDir,
  { signal, args = [], env }: DetachedOptions,
): Promise<void> {
  makeDataDir(dataDir);
  const said = mkdtempSync(join(dataDir.root, 'start-'));
  const output = openSync(join(said, 'output'), 'a', 0o600);
  const program = [...process.execArgv, process.argv[1] as string, 'up', '--data-dir', dataDir.root, ...args];
  const child = spawn(process.execPath, program, {
    detached: true,
    // The fourth descriptor is how the home says that it is up: it writes one byte, or ends without.
    stdio: ['ignore', output, output, 'pipe'],
    env: { ...env, [readyFdVariable]: '3' },
    cwd: '/',
  });
  closeSync(output);
  const onAbort = () => child.kill('SIGTERM');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await once(child, 'spawn');
    for await (const _byte of child.stdio[3] as NodeJS.ReadableStream) {
      child.unref();
      return;
    }
    signal.throwIfAborted();
    const words = readFileSync(join(said, 'output'), 'utf8').trim();
    throw new Fault('unavailable', words.replace(/^hutch: /gm, '') || 'hutch up ended without a word');
  } finally {
    signal.removeEventListener('abort', onAbort);
    rmSync(said, { recursive: true, force: true });
  }
}
