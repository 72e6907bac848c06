/** From what a container asks for to what its control group is given. */
import type { Container } from '@hutch/kube-meta';
import type { OciDeviceRule, OciResources } from './oci.ts';
import { parseQuantity } from './quantity.ts';

/** What a container is held to when it names no limit itself. Zero: no limit. */
export interface DefaultLimits {
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
}

export const defaultLimits: DefaultLimits = { memoryBytes: 0, cpus: 0, pids: 1024 };

const cpuPeriodUs = 100_000;
/** The kernel refuses a smaller share of a period. */
const minCpuQuotaUs = 1_000;
const minCpuShares = 2;

const device = (major: number, minor: number, access = 'rwm'): OciDeviceRule => ({
  allow: true,
  type: 'c',
  major,
  minor,
  access,
});

/** null, zero, full, random, urandom, tty, ptmx and the pseudo-terminals. */
const usualDevices: readonly OciDeviceRule[] = [
  { allow: false, access: 'rwm' },
  device(1, 3),
  device(1, 5),
  device(1, 7),
  device(1, 8),
  device(1, 9),
  device(5, 0),
  device(5, 2),
  { allow: true, type: 'c', major: 136, access: 'rwm' },
];

export function desiredResources(container: Container, limits: DefaultLimits): OciResources {
  const limitOf = (name: string, unset: number) => {
    const asked = container.resources?.limits?.[name];
    return asked === undefined ? unset : parseQuantity(asked);
  };
  const memory = Math.round(limitOf('memory', limits.memoryBytes));
  const cpus = limitOf('cpu', limits.cpus);
  const requested = container.resources?.requests?.cpu;
  const shares = requested === undefined ? cpus : parseQuantity(requested);
  const cpu = {
    ...(shares > 0 ? { shares: Math.max(minCpuShares, Math.round(shares * 1024)) } : {}),
    ...(cpus > 0
      ? { quota: Math.max(minCpuQuotaUs, Math.round(cpus * cpuPeriodUs)), period: cpuPeriodUs }
      : {}),
  };
  return {
    devices: usualDevices,
    // the same figure for memory and swap means no swap: a limit that can be paged around is none
    ...(memory > 0 ? { memory: { limit: memory, swap: memory } } : {}),
    ...(Object.keys(cpu).length > 0 ? { cpu } : {}),
    pids: { limit: limits.pids },
  };
}
