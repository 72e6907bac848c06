/** Removal of what containers could write to. */
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fault } from '@hutch/base';
import { runCommand, type Tools } from './command.ts';

/** Millions of files take minutes; what is gone by then stays gone, and the next try goes on from there. */
const timeoutMs = 600_000;

/**
 * Removes whole trees; what is not there is fine. A program of its own does it: it walks by descriptor where we have only
 * paths, and a container can nest directories deeper than any path can say. All processes that may write there must have
 * ended. Links are not followed, and nothing is removed while something is mounted below: that is not the tree's.
 */
export async function removeTrees(paths: readonly string[], tools: Pick<Tools, 'rm'>): Promise<void> {
  const present = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (present.length === 0) return;
  const mountinfo = readFileSync('/proc/self/mountinfo', 'utf8');
  for (const path of present) {
    const [mounted] = mountsBelow(mountinfo, join(realpathSync(dirname(path)), basename(path)));
    if (mounted !== undefined) throw new Fault('internal', `remove ${path}: ${mounted} is a mount`);
  }
  await runCommand(tools.rm, ['-rf', '--', ...present], { timeoutMs });
}

/** Mount points in the kernel's list that lie in a directory, itself included. Pure. */
export function mountsBelow(mountinfo: string, directory: string): string[] {
  return mountinfo
    .split('\n')
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
    .filter((path) => `${path}/`.startsWith(`${directory}/`));
}

/** The kernel writes blanks, line ends and backslashes in octal. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
