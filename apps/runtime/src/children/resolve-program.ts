import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LaunchFailure } from './child.ts';

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Checks the working directory by itself: a failed exec cannot be told from a missing program. */
export async function checkDirectory(cwd: string): Promise<void> {
  try {
    if (!(await stat(cwd)).isDirectory()) {
      throw new LaunchFailure('bad-directory', `work in ${cwd}: not a directory`);
    }
    await access(cwd, constants.X_OK);
  } catch (err) {
    if (err instanceof LaunchFailure) throw err;
    const why = (err as NodeJS.ErrnoException).code === 'EACCES' ? 'permission denied' : 'no such directory';
    throw new LaunchFailure('bad-directory', `work in ${cwd}: ${why}`, { cause: err });
  }
}

/** Finds the program as a shell would, and tells apart `not there` and `there but not to be run`. */
export async function resolveProgram(name: string, path: string | undefined, cwd: string): Promise<string> {
  let blocked: string | undefined;
  for (const candidate of candidates(name, path ?? defaultPath, cwd)) {
    const verdict = await inspect(candidate);
    if (verdict === 'runnable') return candidate;
    if (verdict === 'blocked') blocked ??= candidate;
  }
  if (blocked) throw new LaunchFailure('not-executable', `${blocked} is not an executable file`);
  throw new LaunchFailure('not-found', `command not found: ${name}`);
}

function candidates(name: string, path: string, cwd: string): string[] {
  if (name === '') return [];
  if (name.includes('/')) return [resolve(cwd, name)];
  return path.split(':').map((directory) => resolve(cwd, directory, name));
}

async function inspect(file: string): Promise<'runnable' | 'blocked' | 'absent'> {
  try {
    if (!(await stat(file)).isFile()) return 'blocked';
    await access(file, constants.X_OK);
    return 'runnable';
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === 'EACCES' ? 'blocked' : 'absent';
  }
}
