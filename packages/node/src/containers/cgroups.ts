/** Control group directories, version 1 (one tree per controller) and version 2 (one tree) alike. */
import { readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, pause } from '@hutch/base';
import { isErrno, namesIn, readIfPresent } from '../files.ts';

const mountPoint = '/sys/fs/cgroup';
const stepMs = 5;
const patienceMs = 5_000;

export type CgroupVersion = 1 | 2;

export async function cgroupVersion(): Promise<CgroupVersion> {
  return (await readIfPresent(join(mountPoint, 'cgroup.controllers'))) === undefined ? 1 : 2;
}

async function trees(): Promise<string[]> {
  if ((await cgroupVersion()) === 2) return [mountPoint];
  return (await namesIn(mountPoint)).map((name) => join(mountPoint, name));
}

/** Top-level groups whose name begins so, in every tree. */
export async function cgroupsBeginning(prefix: string): Promise<string[]> {
  const found = await Promise.all(
    (await trees()).map(async (tree) =>
      (await namesIn(tree)).filter((name) => name.startsWith(prefix)).map((name) => join(tree, name)),
    ),
  );
  return found.flat();
}

/** Kills what runs in the group of this name and removes it from every tree. */
export async function removeCgroup(name: string): Promise<void> {
  const paths = (await trees()).map((tree) => join(tree, name));
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const left = (await Promise.all(paths.map(removeTree))).filter((isGone) => !isGone).length;
    if (left === 0) return;
    if (Date.now() > deadline)
      throw new Fault('timeout', `remove control group ${name}: its processes do not end`);
    await pause(stepMs); // version 1 has no event for "the last process is gone"
  }
}

/** Children first. False while something in it is still dying. */
async function removeTree(path: string): Promise<boolean> {
  const procs = await readProcs(path);
  if (procs === undefined) return true;
  for (const pid of procs) kill(pid);
  for (const child of await childGroups(path)) if (!(await removeTree(child))) return false;
  try {
    await rmdir(path);
    return true;
  } catch (err) {
    if (isErrno(err, 'ENOENT')) return true;
    if (isErrno(err, 'EBUSY')) return false;
    throw err;
  }
}

async function readProcs(path: string): Promise<number[] | undefined> {
  try {
    const text = await readFile(join(path, 'cgroup.procs'), 'utf8');
    return text.split('\n').filter(Boolean).map(Number);
  } catch (err) {
    if (isErrno(err, 'ENOENT', 'ENOTDIR', 'ENODEV')) return undefined;
    throw err;
  }
}

async function childGroups(path: string): Promise<string[]> {
  const candidates = (await namesIn(path)).map((name) => join(path, name));
  const isGroup = await Promise.all(candidates.map(async (child) => (await readProcs(child)) !== undefined));
  return candidates.filter((_, index) => isGroup[index]);
}

function kill(pid: number): void {
  if (pid <= 1) return; // 0 stands for a process outside our own pid namespace
  try {
    process.kill(pid, 'SIGKILL');
  } catch (err) {
    if (!isErrno(err, 'ESRCH')) throw err;
  }
}

/** Whose process it is: a pid alone may have been given to another since we wrote it down. */
export async function isInCgroup(pid: number, name: string): Promise<boolean> {
  const groups = await readIfPresent(`/proc/${pid}/cgroup`);
  return groups?.split('\n').some((line) => line.endsWith(`/${name}`)) ?? false;
}
