/** Small file habits: whole-file replacement, reading what may be absent. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Log, messageOf } from '@hutch/base';

export function isErrno(err: unknown, ...codes: string[]): boolean {
  return err instanceof Error && codes.includes((err as NodeJS.ErrnoException).code ?? '');
}

/** Undefined when there is no such file. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (err) {
    // ESRCH is how /proc says that the process ended while we were reading
    if (isErrno(err, 'ENOENT', 'ENOTDIR', 'ESRCH')) return undefined;
    throw err;
  }
}

/**
 * Undefined when there is no such file, and also when it is not JSON: a loss of power can leave one empty, and what it
 * described (see `replaceFile`) did not survive that either. Said in the log, since nothing else should do this.
 */
export async function readRecord<T>(path: string, log: Log): Promise<T | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (err) {
    log.warn('damaged file is taken as absent', { path, error: messageOf(err) });
    return undefined;
  }
}

export async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (err) {
    if (isErrno(err, 'ENOENT', 'ENOTDIR')) return [];
    throw err;
  }
}

/**
 * Readers see the old text or the new, never half. Blocks for a few tens of microseconds, less than handing it to a thread.
 * Not synced to disk: what is kept so describes processes and namespaces, and none of them survives what would
 * lose the write. `readRecord` is the reader that knows this.
 */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}
