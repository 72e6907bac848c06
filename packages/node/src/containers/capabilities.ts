/** What a process in a container may hold, at most. */
import type { OciCapabilities } from './oci.ts';

/** The set container engines usually grant, without NET_RAW: raw sockets are for spoofing, not for work. */
const grantable = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
  'AUDIT_WRITE',
] as const;

export interface CapabilityWish {
  readonly add?: readonly string[] | undefined;
  readonly drop?: readonly string[] | undefined;
}

const plain = (name: string) => name.toUpperCase().replace(/^CAP_/, '');

/** Those asked for that no container here is given. `ALL` means all there are, so it is refused as well. */
export function ungrantable(wish: CapabilityWish): string[] {
  return (wish.add ?? []).map(plain).filter((name) => !(grantable as readonly string[]).includes(name));
}

/**
 * The default set is held by root inside only. Another user starts with none, and `noNewPrivileges` keeps it so;
 * the bounding set still limits what root-owned set-up code could pass on.
 */
export function desiredCapabilities(wish: CapabilityWish, uid: number): OciCapabilities {
  const dropped = new Set((wish.drop ?? []).map(plain));
  const added = new Set((wish.add ?? []).map(plain));
  const bounding = grantable
    .filter((name) => added.has(name) || !(dropped.has('ALL') || dropped.has(name)))
    .map((name) => `CAP_${name}`);
  const held = uid === 0 ? bounding : [];
  return { bounding, effective: held, permitted: held, inheritable: [], ambient: [] };
}
