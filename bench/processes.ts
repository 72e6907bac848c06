/** What the system says of running processes. */
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100; // USER_HZ, the same on every Linux that Node runs on

export function residentMb(pids: readonly number[]): number {
  return sum(
    pids,
    (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000,
  );
}

/** User and system time since their start. */
export function cpuSeconds(pids: readonly number[]): number {
  return sum(pids, (pid) => {
    const fields = statFields(pid);
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  });
}

/** How long ago the first of them was started. */
export function ageMs(pids: readonly number[]): number {
  const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  const started = Math.min(...pids.map((pid) => Number(statFields(pid)[19]) / ticksPerSecond));
  return (uptimeSeconds - started) * 1000;
}

/** From the third field on: the second one, a name in brackets, may hold anything. */
function statFields(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
