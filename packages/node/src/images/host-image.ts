/** Builds the host image's skeleton once for a state of the machine and shares it between homes. */
import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  mkdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@hutch/base';
import { isErrno, namesIn } from '../files.ts';
import {
  hostMounts,
  type Machine,
  type MachineEntry,
  type PlanEntry,
  parseMountPoints,
  planHostRoot,
  sandboxUser,
  topNames,
  wantedFromEtc,
} from './host-plan.ts';
import type { Image } from './image.ts';

/** Part of the name of a built skeleton; raise it when the plan's meaning changes. */
const formatVersion = 1;
const maxEntries = 20_000;
const maxCopiedFileBytes = 16 * 1024 * 1024;

export interface HostImageOptions {
  /** Shared between homes. */
  readonly imageDir: string;
  /** Added to every owner: who root inside is outside. */
  readonly firstUid: number;
  /** The machine's mount table, as /proc has it. */
  readonly readMountinfo?: () => string;
}

/** What stays the same as long as the machine's fingerprint does. */
interface Skeleton {
  readonly directory: string;
  readonly machine: Machine;
}

/**
 * The image for the machine as it is now; asked at every pod, so an unchanged machine costs a few stats and a look at
 * its mounts, which come and go without a trace in any of the stats.
 *
 * The skeleton's directory is named by a digest of what it was made from and appears by one rename, so homes that
 * build it at the same moment need no lock: the second finds the name taken and throws its own copy away.
 * Debt: skeletons of earlier states of the machine stay (some hundred kilobytes each) until images are collected.
 */
export class HostImage {
  readonly #options: HostImageOptions;
  readonly #readMountinfo: () => string;
  #current: { readonly fingerprint: string; readonly skeleton: Promise<Skeleton> } | undefined;

  constructor(options: HostImageOptions) {
    this.#options = options;
    this.#readMountinfo = options.readMountinfo ?? (() => readFileSync('/proc/self/mountinfo', 'utf8'));
  }

  async resolve(reference: string): Promise<Image> {
    const roots = expandRoots();
    const fingerprint = fingerprintOf(roots, this.#options.firstUid);
    if (this.#current?.fingerprint !== fingerprint) {
      const skeleton = this.#make(fingerprint, roots);
      skeleton.catch(() => {
        this.#current = undefined; // tried again by the next pod
      });
      this.#current = { fingerprint, skeleton };
    }
    const { directory, machine } = await this.#current.skeleton;
    return {
      reference,
      directory,
      mounts: hostMounts(machine, parseMountPoints(this.#readMountinfo())),
      user: { uid: sandboxUser.uid, gid: sandboxUser.gid },
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
      workingDir: '/workspace',
      entrypoint: [],
      command: ['sleep', 'infinity'],
    };
  }

  async #make(fingerprint: string, roots: readonly string[]): Promise<Skeleton> {
    const directory = join(this.#options.imageDir, `host-${fingerprint}`);
    const machine = await readMachine(roots);
    if ((await statIfPresent(directory)) === undefined)
      await build(planHostRoot(machine), directory, this.#options);
    return { directory, machine };
  }
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (err) {
    if (isErrno(err, 'ENOENT', 'ENOTDIR')) return undefined;
    throw err;
  }
}

/** The wanted parts of /etc that this machine has, stars expanded. */
function expandRoots(): string[] {
  const inEtc = readdirSync('/etc').sort();
  const names = wantedFromEtc.flatMap((wanted) =>
    wanted.endsWith('*') ? inEtc.filter((name) => name.startsWith(wanted.slice(0, -1))) : [wanted],
  );
  return names.map((name) => `/etc/${name}`);
}

/**
 * Taken at every pod, so it is few stats (replacing an entry of a directory changes the directory's time), and they do
 * not wait in line for a thread: together they take a fifth of a millisecond, one such wait costs more.
 */
function fingerprintOf(roots: readonly string[], firstUid: number): string {
  const facts = [...topNames.map((name) => `/${name}`), ...roots].map((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats ? [path, stats.mtimeMs, stats.size, stats.mode] : [path];
  });
  const text = JSON.stringify([formatVersion, firstUid, facts]);
  return createHash('sha256').update(text).digest('hex').slice(0, 20);
}

async function readMachine(roots: readonly string[]): Promise<Machine> {
  const top: MachineEntry[] = [];
  for (const name of topNames) await walk(`/${name}`, top, false);
  const etc: MachineEntry[] = [];
  for (const root of roots) await walk(root, etc, true);
  return { top, etc };
}

async function walk(path: string, into: MachineEntry[], deep: boolean): Promise<void> {
  if (into.length > maxEntries)
    throw new Fault('too-large', `read ${path} for the host image: too many files`);
  const stats = await statIfPresent(path);
  if (stats?.isSymbolicLink()) into.push({ type: 'link', path, target: await readlink(path) });
  else if (stats?.isFile() && stats.size <= maxCopiedFileBytes)
    into.push({ type: 'file', path, mode: stats.mode });
  else if (stats?.isDirectory()) {
    into.push({ type: 'directory', path });
    if (deep) for (const name of await namesIn(path)) await walk(join(path, name), into, deep);
  }
}

async function build(
  plan: readonly PlanEntry[],
  directory: string,
  options: HostImageOptions,
): Promise<void> {
  await mkdir(options.imageDir, { recursive: true, mode: 0o700 });
  const draft = join(options.imageDir, `.building-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(draft, { mode: 0o755 });
    await lchown(draft, options.firstUid, options.firstUid);
    const parts = Object.groupBy(plan, ({ type }) => (type === 'directory' ? 'directory' : 'leaf'));
    for (const entry of parts.directory ?? []) await write(draft, entry, options.firstUid); // parents first
    await Promise.all((parts.leaf ?? []).map((entry) => write(draft, entry, options.firstUid)));
    await rename(draft, directory);
  } catch (err) {
    await rm(draft, { recursive: true, force: true });
    if (!isErrno(err, 'EEXIST', 'ENOTEMPTY')) throw err; // another home was first, with the same content
  }
}

async function write(root: string, entry: PlanEntry, firstUid: number): Promise<void> {
  const path = join(root, entry.path);
  let owner = 0;
  switch (entry.type) {
    case 'directory':
      await mkdir(path);
      await chmod(path, entry.mode); // mkdir's own mode is cut by the umask
      owner = entry.owner;
      break;
    case 'link':
      await symlink(entry.target, path);
      break;
    case 'text':
      await writeFile(path, entry.text);
      await chmod(path, 0o644);
      break;
    case 'copy':
      await copyFile(entry.source, path);
      await chmod(path, 0o644);
      break;
  }
  await lchown(path, firstUid + owner, firstUid + owner);
}
