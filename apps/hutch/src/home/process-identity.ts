/** Which process, for good: a pid alone may belong to another one by the time it is read. */
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** In the kernel's ticks since boot. */
  readonly startedAt: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: statusOf(process.pid)?.startedAt ?? '' };
}

/** A process that has ended but whose parent has not asked yet (a zombie) does not run. */
export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  const status = statusOf(pid);
  return status !== undefined && status.state !== 'Z' && status.startedAt === startedAt;
}

function statusOf(pid: number): { state: string; startedAt: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold anything
    return { state: fields[0] ?? '', startedAt: fields[19] ?? '' };
  } catch {
    return undefined; // it has ended
  }
}
