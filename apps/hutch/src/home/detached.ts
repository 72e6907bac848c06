/** `hutch up -d`: the same home, in a process of its own that outlives this one. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Fault } from '@hutch/base';
import { type DataDir, makeDataDir } from './data-dir.ts';

/** Resolves when the home answers; rejects with what it said when it ended instead. */
export async function startDetached(
  dataDir: DataDir,
  { signal, args = [] }: { signal: AbortSignal; args?: readonly string[] },
): Promise<void> {
  makeDataDir(dataDir);
  const log = openSync(dataDir.logFile, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1] as string, 'up', '--data-dir', dataDir.root, ...args],
    {
      detached: true,
      // The fourth descriptor is how the home says that it is up: it writes one byte, or ends without.
      stdio: ['ignore', log, log, 'pipe'],
      env: { ...process.env, HUTCH_READY_FD: '3' },
      cwd: '/',
    },
  );
  closeSync(log);
  const ready = child.stdio[3] as NodeJS.ReadableStream;
  const onAbort = () => child.kill('SIGTERM');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const _byte of ready) {
      child.unref();
      return;
    }
    signal.throwIfAborted();
    throw new Fault('unavailable', `hutch up did not start: ${lastLines(dataDir.logFile)}`);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function lastLines(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-3).join('\n');
  return lines === '' ? `it wrote nothing to ${file}` : lines;
}
