/** The file system root of one container: an image below, a layer of its own above. */
import { chmodSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Fault } from '@hutch/base';
import { namesIn } from '../files.ts';

/** Fixed names inside a container's directory; relative in the mount options, so no path needs escaping. */
export const rootParts = { lower: 'lower', upper: 'upper', work: 'work' } as const;

export interface RootPlan {
  readonly directory: string;
  readonly lower: string;
  /** Who root inside is outside. */
  readonly firstUid: number;
  /** Written into the top layer, such as etc/hosts. */
  readonly files: Readonly<Record<string, string>>;
}

/** Blocks for well under a millisecond; passing each small step to a thread and back costs ten times that. */
export function prepareRoot({ directory, lower, firstUid, files }: RootPlan): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  symlinkSync(lower, join(directory, rootParts.lower));
  mkdirSync(join(directory, rootParts.work));
  const upper = join(directory, rootParts.upper);
  const own = (path: string, mode: number) => {
    chmodSync(path, mode); // what made it was cut by the umask
    lchownSync(path, firstUid, firstUid);
  };
  const parents = new Set(Object.keys(files).map((path) => join(upper, dirname(path))));
  for (const path of [upper, ...parents]) {
    mkdirSync(path);
    own(path, 0o755);
  }
  for (const [path, text] of Object.entries(files)) {
    writeFileSync(join(upper, path), text);
    own(join(upper, path), 0o644);
  }
}

const rootPathCandidates = ['mnt', 'media', 'srv', 'opt', 'home'];

/**
 * Where containers' roots are mounted. Each in a mount namespace of its own, so one place serves all and the
 * machine's mount table never shows them. It must be a directory everyone may pass through to (in its user
 * namespace the runtime is nobody special), and must not hide anything the runtime still has to reach.
 */
export async function chooseRootPath(reached: readonly string[]): Promise<string> {
  const top = await namesIn('/');
  const free = rootPathCandidates
    .filter((name) => top.includes(name))
    .map((name) => `/${name}`)
    .find((path) => !reached.some((other) => `${resolve(other)}/`.startsWith(`${path}/`)));
  if (free === undefined) throw new Fault('unavailable', 'find a place to mount container roots');
  return free;
}
