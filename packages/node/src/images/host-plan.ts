/**
 * The built-in host image: a generated skeleton root over which the machine's own tool chain is mounted read-only.
 *
 * What is taken from /etc is a closed list of things programs need to start and to verify certificates. Nothing
 * else of the machine is visible: no homes, no service configuration, no secrets.
 */
import type { OciMount } from '../containers/oci.ts';

export type MachineEntry =
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'file'; readonly path: string; readonly mode: number }
  | { readonly type: 'link'; readonly path: string; readonly target: string };

/** The machine as far as the image depends on it. */
export interface Machine {
  /** /bin, /lib and their kind: links into /usr on most systems, directories on some. */
  readonly top: readonly MachineEntry[];
  /** What is below the wanted parts of /etc, parents first. */
  readonly etc: readonly MachineEntry[];
}

export type PlanEntry =
  | { readonly type: 'directory'; readonly path: string; readonly mode: number; readonly owner: number }
  | { readonly type: 'link'; readonly path: string; readonly target: string }
  | { readonly type: 'text'; readonly path: string; readonly text: string }
  | { readonly type: 'copy'; readonly path: string; readonly source: string };

export const topNames = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'] as const;

/** Names in /etc; a trailing star stands for the rest of the name. */
export const wantedFromEtc = [
  'alternatives',
  'bash.bashrc',
  'debian_version',
  'fonts',
  'inputrc',
  'java-*',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'ld-musl-*',
  'localtime',
  'lsb-release',
  'magic',
  'magic.mime',
  'mime.types',
  'os-release',
  'perl',
  'pki/ca-trust/extracted',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'protocols',
  'python3*',
  'rpc',
  'services',
  'shells',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
] as const;

export const sandboxUser = { name: 'sandbox', uid: 1000, gid: 1000, home: '/home/sandbox' } as const;

const passwd = `root:x:0:0:root:/root:/bin/sh
${sandboxUser.name}:x:${sandboxUser.uid}:${sandboxUser.gid}::${sandboxUser.home}:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/false
`;

const group = `root:x:0:
tty:x:5:
users:x:100:
${sandboxUser.name}:x:${sandboxUser.gid}:
nogroup:x:65534:
`;

const generated: Readonly<Record<string, string>> = {
  'etc/passwd': passwd,
  'etc/group': group,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
  'etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
  'etc/hostname': 'sandbox\n',
  'etc/resolv.conf': '',
  'etc/profile': 'umask 022\n[ -z "$BASH" ] || [ ! -r /etc/bash.bashrc ] || . /etc/bash.bashrc\n',
};

/** Mount points and the places people expect. Owners are users inside the container. */
const directories: readonly (readonly [path: string, mode: number, owner: number])[] = [
  ['dev', 0o755, 0],
  ['etc', 0o755, 0],
  ['home', 0o755, 0],
  ['home/sandbox', 0o755, sandboxUser.uid],
  ['mnt', 0o755, 0],
  ['opt', 0o755, 0],
  ['proc', 0o555, 0],
  ['root', 0o700, 0],
  ['run', 0o755, 0],
  ['run/lock', 0o1777, 0],
  ['srv', 0o755, 0],
  ['sys', 0o555, 0],
  ['tmp', 0o1777, 0],
  ['usr', 0o755, 0],
  ['var', 0o755, 0],
  ['var/cache', 0o755, 0],
  ['var/lib', 0o755, 0],
  ['var/log', 0o755, 0],
  ['var/tmp', 0o1777, 0],
  ['workspace', 0o755, sandboxUser.uid],
];

/** Parents before children, so that it can be carried out in order. */
export function planHostRoot(machine: Machine): PlanEntry[] {
  const plan = new Map<string, PlanEntry>();
  const add = (entry: PlanEntry) => plan.set(entry.path, entry);
  for (const [path, mode, owner] of directories) add({ type: 'directory', path, mode, owner });
  add({ type: 'link', path: 'var/run', target: '/run' });
  add({ type: 'link', path: 'var/lock', target: '/run/lock' });
  add({ type: 'link', path: 'etc/mtab', target: '/proc/self/mounts' });
  for (const entry of machine.top) addMachineEntry(add, entry);
  for (const entry of machine.etc) {
    for (const parent of parentsOf(entry.path)) {
      if (!plan.has(parent)) add({ type: 'directory', path: parent, mode: 0o755, owner: 0 });
    }
    addMachineEntry(add, entry);
  }
  for (const [path, text] of Object.entries(generated)) add({ type: 'text', path, text });
  return [...plan.values()];
}

function addMachineEntry(add: (entry: PlanEntry) => void, entry: MachineEntry): void {
  const path = entry.path.replace(/^\/+/, '');
  if (entry.type === 'directory') add({ type: 'directory', path, mode: 0o755, owner: 0 });
  else if (entry.type === 'link') add({ type: 'link', path, target: entry.target });
  // a file the whole machine may not read is not for a sandbox either
  else if ((entry.mode & 0o004) !== 0) add({ type: 'copy', path, source: entry.path });
}

function parentsOf(path: string): string[] {
  const parts = path.replace(/^\/+/, '').split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

const toolMountOptions = ['rbind', 'ro', 'nosuid', 'nodev', 'rprivate'];

/**
 * /usr and whatever of /bin, /lib and the like is a real directory. A file system mounted below one of them needs
 * an entry of its own: read-only does not reach into it otherwise. (Leaving what is below out is not possible: in a user
 * namespace the kernel refuses to take a tree apart.)
 */
export function hostMounts(machine: Machine, mountPoints: readonly string[]): OciMount[] {
  const roots = [
    '/usr',
    ...machine.top.filter((entry) => entry.type === 'directory').map(({ path }) => path),
  ];
  const below = mountPoints.filter((point) => roots.some((root) => point.startsWith(`${root}/`)));
  return [...roots, ...new Set(below.sort())].map((path) => ({
    destination: path,
    type: 'bind',
    source: path,
    options: toolMountOptions,
  }));
}

/** The mount points of /proc/self/mountinfo, with its octal escapes undone. */
export function parseMountPoints(mountinfo: string): string[] {
  return mountinfo
    .split('\n')
    .map((line) => line.split(' ')[4])
    .filter((point) => point !== undefined)
    .map((point) =>
      point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    );
}
