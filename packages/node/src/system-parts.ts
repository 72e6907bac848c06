/** What of the machine the node can use, and what is missing: the facts behind `hutch doctor`. */
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { messageOf } from '@hutch/base';
import { findProgram, requireTools, runCommand, toolNames } from './command.ts';
import { cgroupVersion } from './containers/cgroups.ts';
import { namesIn, readIfPresent } from './files.ts';
import { probeUserNamespace, type UserNamespaceProbe } from './open-home.ts';

export interface SystemPart {
  readonly name: string;
  readonly isFound: boolean;
  /** Without it nothing runs. The others make a sandbox tighter. */
  readonly isRequired: boolean;
  /** A version, a place, or what is wrong. */
  readonly detail: string;
  /** How to mend it, when it is not found. */
  readonly fix?: string;
}

/** The package that brings a tool; the names are the same on Debian, Fedora and Alpine but for these. */
const packages: Readonly<Record<string, Partial<Record<PackageTool, string>> & { readonly all?: string }>> = {
  runc: { all: 'runc' },
  conmon: { all: 'conmon' },
  nft: { all: 'nftables' },
  ip: { all: 'iproute2', dnf: 'iproute' },
  sh: { all: 'dash' },
  mount: { all: 'mount', dnf: 'util-linux', apk: 'util-linux' },
  umount: { all: 'mount', dnf: 'util-linux', apk: 'util-linux' },
  unshare: { all: 'util-linux' },
  nsenter: { all: 'util-linux' },
  rm: { all: 'coreutils' },
};

type PackageTool = 'apt-get' | 'dnf' | 'apk';
const packageTools: Readonly<Record<PackageTool, string>> = {
  'apt-get': 'apt-get install -y',
  dnf: 'dnf install -y',
  apk: 'apk add',
};

/** `path`: where else to look for tools, in the form of PATH. */
export async function findSystemParts(path?: string): Promise<SystemPart[]> {
  const tools = await Promise.all(toolNames.map((name) => toolPart(name, path)));
  const rest = await Promise.all([
    kernelPart(),
    rootPart(),
    overlayPart(),
    cgroupPart(),
    nftablesPart(path),
    seccompPart(),
    userNamespacePart(path),
  ]);
  return [...rest, ...tools];
}

async function toolPart(name: string, path: string | undefined): Promise<SystemPart> {
  const program = findProgram(name, path);
  if (program === undefined) {
    const fix = installCommand(name, path);
    return { name, isFound: false, isRequired: true, detail: 'not installed', ...(fix ? { fix } : {}) };
  }
  const version = await versionOf(name, program);
  return { name, isFound: true, isRequired: true, detail: version ? `${version} (${program})` : program };
}

const versionFlags: Readonly<Record<string, string>> = {
  runc: '--version',
  conmon: '--version',
  nft: '--version',
  ip: '-V',
};

async function versionOf(name: string, program: string): Promise<string | undefined> {
  const flag = versionFlags[name];
  if (flag === undefined) return undefined;
  try {
    const text = await runCommand(program, [flag], { timeoutMs: 5_000 });
    return /\d+\.\d+(\.\d+)?[^\s,]*/.exec(text)?.[0];
  } catch (err) {
    return `unknown version: ${messageOf(err)}`;
  }
}

function installCommand(name: string, path: string | undefined): string | undefined {
  const tool = (Object.keys(packageTools) as PackageTool[]).find((candidate) => findProgram(candidate, path));
  const known = packages[name];
  const what = tool && (known?.[tool] ?? known?.all);
  return tool && what ? `${packageTools[tool]} ${what}` : undefined;
}

async function kernelPart(): Promise<SystemPart> {
  const isFound = process.platform === 'linux';
  return { name: 'linux', isFound, isRequired: true, detail: isFound ? release() : process.platform };
}

async function rootPart(): Promise<SystemPart> {
  const isFound = process.getuid?.() === 0;
  const detail = isFound ? 'uid 0' : `uid ${process.getuid?.()}`;
  return { name: 'root', isFound, isRequired: true, detail, ...(isFound ? {} : { fix: 'run it with sudo' }) };
}

async function overlayPart(): Promise<SystemPart> {
  const isFound = /\soverlay$/m.test((await readIfPresent('/proc/filesystems')) ?? '');
  const missing = { detail: 'the kernel has no overlay file system', fix: 'modprobe overlay' };
  return { name: 'overlay', isFound, isRequired: true, ...(isFound ? { detail: 'in the kernel' } : missing) };
}

const wantedControllers = ['cpu', 'memory', 'pids'];

async function cgroupPart(): Promise<SystemPart> {
  const version = await cgroupVersion();
  const present =
    version === 2
      ? ((await readIfPresent('/sys/fs/cgroup/cgroup.controllers')) ?? '').trim().split(/\s+/)
      : (await namesIn('/sys/fs/cgroup')).flatMap((name) => name.split(','));
  const missing = wantedControllers.filter((name) => !present.includes(name));
  const isFound = missing.length === 0;
  const detail = isFound ? `version ${version}` : `version ${version}, without ${missing.join(', ')}`;
  return {
    name: 'cgroups',
    isFound,
    isRequired: true,
    detail,
    ...(isFound ? {} : { fix: 'enable these controllers in the kernel or its command line' }),
  };
}

async function nftablesPart(path: string | undefined): Promise<SystemPart> {
  const base = { name: 'nftables', isRequired: true };
  const nft = findProgram('nft', path);
  if (nft === undefined) return { ...base, isFound: false, detail: 'not asked: nft is missing' };
  try {
    await runCommand(nft, ['list', 'tables'], { timeoutMs: 5_000 });
    return { ...base, isFound: true, detail: 'in the kernel' };
  } catch (err) {
    return { ...base, isFound: false, detail: messageOf(err), fix: 'modprobe nf_tables' };
  }
}

async function seccompPart(): Promise<SystemPart> {
  const isFound = /^Seccomp:/m.test(await readFile('/proc/self/status', 'utf8'));
  return {
    name: 'seccomp',
    isFound,
    isRequired: true,
    detail: isFound ? 'in the kernel' : 'not in the kernel',
  };
}

async function userNamespacePart(path: string | undefined): Promise<SystemPart> {
  const limit = await readIfPresent('/proc/sys/user/max_user_namespaces');
  try {
    return userNamespaceRow(await probeUserNamespace(requireTools(path)), limit);
  } catch (err) {
    // tools are missing; they have rows of their own
    return userNamespaceRow({ isUsable: false, problem: messageOf(err) }, undefined);
  }
}

/** Of the many reasons there can be, only a limit of none at all has a remedy we know. Pure. */
export function userNamespaceRow(probe: UserNamespaceProbe, limit: string | undefined): SystemPart {
  const base = { name: 'user namespaces', isRequired: false, isFound: probe.isUsable };
  if (probe.isUsable) return { ...base, detail: 'root inside a sandbox is nobody outside' };
  const detail = `root inside a sandbox is root outside: ${probe.problem}`;
  const fix = limit?.trim() === '0' ? { fix: 'sysctl -w user.max_user_namespaces=15000' } : {};
  return { ...base, detail, ...fix };
}
