/**
 * What is made once and used by every checkout: built binaries, a tool chain, other people's packages. It lives
 * outside the tree, each thing in a directory whose name says everything it was made of, so it is never stale.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Fault, raceAbort } from '@hutch/base';

export interface Making {
  readonly signal: AbortSignal;
  /** Told what is being made, since it may take minutes. */
  readonly say: (line: string) => void;
}

/** Where the thing of this name is, or will be. */
export function cachePlace(name: string): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hutch', 'rigs', name);
}

/** Names a thing by what it is made of. */
export function cacheName(prefix: string, madeOf: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of madeOf) hash.update(`${part.length}:`).update(part);
  return `${prefix}-${hash.digest('hex').slice(0, 16)}`;
}

/**
 * The directory of a thing, made now if it is not there.
 *
 * Guarantees: one maker at a time on the machine, the others wait for it; what is there is whole, since it is
 * made beside its place and moved when done. A maker that failed or was killed leaves nothing in the way.
 */
export async function ensureMade(
  name: string,
  { signal, say }: Making,
  make: (directory: string) => Promise<void>,
): Promise<string> {
  const place = cachePlace(name);
  if (existsSync(place)) return place;
  await mkdir(join(place, '..'), { recursive: true });
  await using _lock = await takeLock(`${place}.lock`, { signal, say });
  if (existsSync(place)) return place;

  const unfinished = `${place}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  await make(unfinished);
  await rename(unfinished, place);
  return place;
}

/** A lock of the kernel's, so nobody can die and keep it: `flock` waits for it, and lets go when our end of its pipe closes. */
async function takeLock(file: string, { signal, say }: Making): Promise<AsyncDisposable> {
  signal.throwIfAborted();
  const holder = spawn('flock', [file, 'sh', '-c', 'echo taken; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C is for us; we then let go in order
  });
  const exited = once(holder, 'exit').catch((err: unknown) => {
    throw new Fault('unavailable', `lock ${file} with flock (util-linux)`, { cause: err });
  });
  const waiting = setTimeout(
    () => say(`waiting for another process that is making ${file.slice(0, -5)}`),
    2000,
  );
  try {
    const taken = once(holder.stdout, 'data');
    taken.catch(() => {});
    await raceAbort(Promise.race([taken, exited]), signal);
  } catch (err) {
    exited.catch(() => {});
    holder.kill('SIGKILL');
    holder.stdin.destroy(); // if it had just got the lock, this makes its `cat` let go
    throw err;
  } finally {
    clearTimeout(waiting);
  }
  return {
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await exited;
    },
  };
}
