/**
 * What a container may take of the kernel's tables that are kept per user. The kernel charges it to the owner of the user
 * namespace as well, and that is the machine's root: without limits of its own, one container could use up root's.
 */
import { readIfPresent } from '../files.ts';
import type { OciHooks } from './oci.ts';

/** By the name the kernel has for it in /proc/sys/user. They hold for each user of the container. */
export type KernelLimits = Readonly<Record<string, number>>;

const directory = '/proc/sys/user';

/** Parts of what root itself has, and not less than ordinary programs need. */
const shares = {
  max_inotify_instances: { part: 1 / 4, least: 16 },
  max_inotify_watches: { part: 1 / 4, least: 4_096 },
} as const;

/** A container's namespaces are made for it, and nothing in it makes more. */
const noMoreNamespaces: KernelLimits = {
  max_cgroup_namespaces: 0,
  max_ipc_namespaces: 0,
  max_mnt_namespaces: 0,
  max_net_namespaces: 0,
  max_pid_namespaces: 0,
  max_time_namespaces: 0,
  max_user_namespaces: 0,
  max_uts_namespaces: 0,
};

/** As this machine is now. */
export async function readKernelLimits(): Promise<KernelLimits> {
  const shared = await Promise.all(
    Object.entries(shares).map(async ([name, { part, least }]) => {
      const ofMachine = Number((await readIfPresent(`${directory}/${name}`)) ?? 0);
      return [name, Math.max(least, Math.floor(ofMachine * part))] as const;
    }),
  );
  return { ...noMoreNamespaces, ...Object.fromEntries(shared) };
}

/**
 * Sets them from inside the new user namespace, where alone they can be set: a hook runs there before the container's own
 * program, at the price of one process. Only for a container with a user namespace: without, they would be the machine's.
 */
export function kernelLimitHooks(limits: KernelLimits, sh: string): OciHooks {
  // a kernel that does not count a thing has no file for it
  const lines = Object.entries(limits).map(([name, value]) => `[ ! -e ${name} ] || echo ${value} > ${name}`);
  const script = ['set -e', `cd ${directory}`, ...lines].join('\n');
  return { createContainer: [{ path: sh, args: ['sh', '-c', script] }] };
}
