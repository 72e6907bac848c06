/**
 * What a PID 1 owes: orphans are handed to it, and stay as zombies until it asks for their exit status. The
 * platform asks only for processes it started, so the rest is done here.
 *
 * Linux with Bun only; on Node the runtime is never PID 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Log } from '@hutch/base';
import type { Launcher } from '../children/launcher.ts';

/** Orphans die in flocks; and the platform gets the first chance at its own. Nobody waits for this. */
const gatherMs = 50;

export function reapOrphans(launcher: Launcher, log: Log): void {
  let isDue = false;
  process.on('SIGCHLD', () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      sweep(launcher).catch((err: unknown) => log.error('orphans are not reaped', { err }));
    }, gatherMs);
  });
}

async function sweep(launcher: Launcher): Promise<void> {
  const libc = await launcher.libc();
  // No await from here on: a process started meanwhile must not be taken for an orphan.
  for (const pid of libc ? childPids() : []) if (isZombie(pid) && !launcher.owns(pid)) libc?.reap(pid);
}

function childPids(): number[] {
  try {
    return numbers(readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' '));
  } catch {
    return numbers(readdirSync('/proc')).filter((pid) => statOf(pid)?.parent === process.pid); // older kernels
  }
}

function numbers(words: readonly string[]): number[] {
  return words.filter((word) => /^\d+$/.test(word)).map(Number);
}

function isZombie(pid: number): boolean {
  return statOf(pid)?.state === 'Z';
}

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    // The name in the second field may hold anything, also spaces and brackets; it ends at the last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined; // gone
  }
}
