/** The OCI configuration of one container: how closed the box is, in one place. Pure. */
import type { Container, Pod } from '@hutch/kube-meta';
import type { Image } from '../images/image.ts';
import { desiredCapabilities } from './capabilities.ts';
import type { OciHooks, OciIdMapping, OciMount, OciNamespace, OciSpec } from './oci.ts';
import { type DefaultLimits, desiredResources } from './resources.ts';
import { defaultSeccomp } from './seccomp.ts';

export interface SpecInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: Image;
  /** Also the name of the control group. */
  readonly id: string;
  /** Where the container's root is mounted when the runtime looks at it. */
  readonly rootPath: string;
  readonly netns: string;
  /** Volume mounts, in the order they are made. */
  readonly volumeMounts: readonly OciMount[];
  readonly env: readonly string[];
  readonly args: readonly string[];
  readonly limits: DefaultLimits;
  /** Undefined: no user namespace on this machine. */
  readonly idMapping: OciIdMapping | undefined;
  readonly hooks: OciHooks | undefined;
}

export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
  readonly additionalGids: readonly number[];
}

/** Who the container's first process is: the container's own wish, then the pod's, then the image's. */
export function desiredUser(pod: Pod, container: Container, image: Image): ProcessUser {
  const ofPod = pod.spec.securityContext;
  const own = container.securityContext;
  const uid = own?.runAsUser ?? ofPod?.runAsUser ?? image.user.uid;
  // As on a cluster: a user that is not the image's own has group 0 unless one is named.
  const gid = own?.runAsGroup ?? ofPod?.runAsGroup ?? (uid === image.user.uid ? image.user.gid : 0);
  const additional = new Set(ofPod?.supplementalGroups ?? []);
  if (ofPod?.fsGroup !== undefined) additional.add(ofPod.fsGroup);
  return { uid, gid, additionalGids: [...additional] };
}

/** /sys is not here: it is mounted before, because only the owner of the network namespace may do it. */
const kernelMounts: readonly OciMount[] = [
  { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  {
    destination: '/dev/pts',
    type: 'devpts',
    source: 'devpts',
    options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
  },
  {
    destination: '/dev/shm',
    type: 'tmpfs',
    source: 'shm',
    options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'],
  },
  { destination: '/dev/mqueue', type: 'mqueue', source: 'mqueue', options: ['nosuid', 'noexec', 'nodev'] },
  {
    destination: '/sys/fs/cgroup',
    type: 'cgroup',
    source: 'cgroup',
    options: ['ro', 'nosuid', 'noexec', 'nodev', 'relatime'],
  },
];

const maskedPaths = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
];

const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

const ownNamespaces = ['pid', 'ipc', 'uts', 'mount', 'cgroup'] as const;

export function hostnameOf(pod: Pod): string {
  return (pod.spec.hostname ?? pod.metadata.name).slice(0, 63).replace(/[-.]+$/, '');
}

export function desiredSpec(input: SpecInput): OciSpec {
  const { pod, container, image, idMapping } = input;
  const user = desiredUser(pod, container, image);
  const namespaces: OciNamespace[] = [
    ...ownNamespaces.map((type) => ({ type })),
    { type: 'network', path: input.netns },
    ...(idMapping ? [{ type: 'user' } as const] : []),
  ];
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: container.tty === true,
      user,
      args: input.args,
      env: input.env,
      cwd: container.workingDir ?? image.workingDir,
      capabilities: desiredCapabilities(container.securityContext?.capabilities ?? {}, user.uid),
      noNewPrivileges: true,
    },
    root: { path: input.rootPath, readonly: container.securityContext?.readOnlyRootFilesystem === true },
    hostname: hostnameOf(pod),
    mounts: [...kernelMounts, ...image.mounts, ...input.volumeMounts],
    ...(input.hooks ? { hooks: input.hooks } : {}),
    linux: {
      cgroupsPath: `/${input.id}`,
      namespaces,
      ...(idMapping ? { uidMappings: [idMapping], gidMappings: [idMapping] } : {}),
      resources: desiredResources(container, input.limits),
      seccomp: defaultSeccomp(),
      maskedPaths,
      readonlyPaths,
    },
  };
}
