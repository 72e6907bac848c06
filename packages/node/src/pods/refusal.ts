/**
 * What a pod may not ask of this node. A field that cannot be honoured fails the pod at once and by name: nothing
 * is silently ignored. Scheduling fields are not the node's business and pass. Pure.
 */
import { isFault } from '@hutch/base';
import type { Container, Pod, Probe, Volume } from '@hutch/kube-meta';
import { ungrantable } from '../containers/capabilities.ts';
import { parseQuantity } from '../containers/quantity.ts';
import { isKnownField } from './environment.ts';

export interface Refusal {
  /** A word for programs, as in a pod's status. */
  readonly reason: string;
  readonly message: string;
}

export interface NodeAbilities {
  readonly hasUserNamespaces: boolean;
  readonly runtimeClasses: readonly string[];
}

/** Undefined when the pod can be run as it is written. All problems are named, not the first one only. */
export function refusalOf(pod: Pod, abilities: NodeAbilities): Refusal | undefined {
  const problems = [
    ...podProblems(pod, abilities),
    ...(pod.spec.volumes ?? []).flatMap(volumeProblems),
    ...pod.spec.containers.flatMap((container) =>
      containerProblems(container, pod).map((problem) => `container ${container.name}: ${problem}`),
    ),
  ];
  if (problems.length === 0) return undefined;
  return {
    reason: 'UnsupportedPod',
    message: `this node cannot run the pod as written: ${problems.join('; ')}`,
  };
}

function podProblems({ spec }: Pod, abilities: NodeAbilities): string[] {
  const context = spec.securityContext;
  const classes = abilities.runtimeClasses.join(', ');
  return list(
    [spec.hostNetwork === true, 'hostNetwork is not allowed'],
    [spec.hostPID === true, 'hostPID is not allowed'],
    [spec.hostIPC === true, 'hostIPC is not allowed'],
    [
      spec.hostUsers === false && !abilities.hasUserNamespaces,
      'hostUsers: false needs user namespaces, which this machine does not offer',
    ],
    [spec.shareProcessNamespace === true, 'shareProcessNamespace is not supported'],
    [(spec.initContainers?.length ?? 0) > 0, 'initContainers are not supported'],
    [(spec.ephemeralContainers?.length ?? 0) > 0, 'ephemeralContainers are not supported'],
    [spec.activeDeadlineSeconds !== undefined, 'activeDeadlineSeconds is not supported'],
    [spec.subdomain !== undefined, 'subdomain is not supported'],
    [spec.setHostnameAsFQDN === true, 'setHostnameAsFQDN is not supported'],
    [spec.hostnameOverride !== undefined, 'hostnameOverride is not supported'],
    [
      spec.runtimeClassName !== undefined && !abilities.runtimeClasses.includes(spec.runtimeClassName),
      `runtimeClassName ${spec.runtimeClassName} is not known here (${classes})`,
    ],
    [(context?.sysctls?.length ?? 0) > 0, 'securityContext.sysctls are not supported'],
    [context?.seLinuxOptions !== undefined, 'securityContext.seLinuxOptions are not supported'],
    [context?.windowsOptions !== undefined, 'securityContext.windowsOptions are not supported'],
    ...profileProblems(context),
  );
}

type Check = readonly [isProblem: boolean, message: string];

function list(...checks: readonly Check[]): string[] {
  return checks.filter(([isProblem]) => isProblem).map(([, message]) => message);
}

interface Profiles {
  readonly seccompProfile?: { readonly type: string };
  readonly appArmorProfile?: { readonly type: string };
}

function profileProblems(context: Profiles | undefined): Check[] {
  const seccomp = context?.seccompProfile?.type ?? 'RuntimeDefault';
  const appArmor = context?.appArmorProfile?.type ?? 'RuntimeDefault';
  return [
    [seccomp !== 'RuntimeDefault', `seccompProfile ${seccomp} is not allowed`],
    [appArmor === 'Localhost', `appArmorProfile ${appArmor} is not supported`],
  ];
}

function volumeProblems(volume: Volume): string[] {
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'none';
  const name = `volume ${volume.name}`;
  const memory = volume.emptyDir?.medium === 'Memory';
  const medium = volume.emptyDir?.medium ?? '';
  return list(
    [!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(volume.name), `${name}: not a volume name`],
    [kind !== 'emptyDir' && kind !== 'image', `${name}: kind ${kind} is not supported`],
    [!memory && medium !== '', `${name}: emptyDir medium ${medium} is not supported`],
    [!memory && volume.emptyDir?.sizeLimit !== undefined, `${name}: a sizeLimit on disk cannot be enforced`],
    [!isQuantity(volume.emptyDir?.sizeLimit), `${name}: sizeLimit is not a quantity`],
  );
}

function containerProblems(container: Container, pod: Pod): string[] {
  const context = container.securityContext;
  const asked = ungrantable(context?.capabilities ?? {});
  const volumes = new Set((pod.spec.volumes ?? []).map(({ name }) => name));
  return [
    ...list(
      [!container.image, 'image is missing'],
      [!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(container.name), 'not a container name'],
      [context?.privileged === true, 'privileged is not allowed'],
      [context?.allowPrivilegeEscalation === true, 'allowPrivilegeEscalation: true is not allowed'],
      [asked.length > 0, `capabilities ${asked.join(', ')} are not granted`],
      [(context?.procMount ?? 'Default') !== 'Default', `procMount ${context?.procMount} is not allowed`],
      [context?.seLinuxOptions !== undefined, 'seLinuxOptions are not supported'],
      [context?.windowsOptions !== undefined, 'windowsOptions are not supported'],
      [container.lifecycle?.postStart !== undefined, 'lifecycle.postStart is not supported'],
      [container.lifecycle?.preStop !== undefined, 'lifecycle.preStop is not supported'],
      [container.livenessProbe !== undefined, 'livenessProbe is not supported'],
      [container.startupProbe !== undefined, 'startupProbe is not supported'],
      [(container.envFrom?.length ?? 0) > 0, 'envFrom is not supported'],
      [(container.volumeDevices?.length ?? 0) > 0, 'volumeDevices are not supported'],
      [
        !isAbsolute(container.workingDir ?? '/'),
        `workingDir ${container.workingDir} is not an absolute path`,
      ],
      ...profileProblems(context),
    ),
    ...probeProblems(container.readinessProbe),
    ...resourceProblems(container),
    ...(container.env ?? []).flatMap(environmentProblems),
    ...(container.volumeMounts ?? []).flatMap((mount) =>
      list(
        [!volumes.has(mount.name), `volumeMount ${mount.name}: no such volume`],
        [
          !isAbsolute(mount.mountPath) || mount.mountPath === '/',
          `mountPath ${mount.mountPath} is not usable`,
        ],
        [Boolean(mount.subPath || mount.subPathExpr), `volumeMount ${mount.name}: subPath is not supported`],
        [
          (mount.mountPropagation ?? 'None') !== 'None',
          `volumeMount ${mount.name}: mountPropagation is not supported`,
        ],
      ),
    ),
  ];
}

function probeProblems(probe: Probe | undefined): string[] {
  if (!probe || probe.httpGet || probe.tcpSocket) return [];
  return ['readinessProbe: only httpGet and tcpSocket are supported'];
}

const knownResources = ['cpu', 'memory'];

function resourceProblems({ resources }: Container): string[] {
  const all = [...Object.entries(resources?.limits ?? {}), ...Object.entries(resources?.requests ?? {})];
  return [
    ...list([(resources?.claims?.length ?? 0) > 0, 'resources.claims are not supported']),
    ...all.flatMap(([name, quantity]) =>
      list(
        [!knownResources.includes(name), `resource ${name} is not supported`],
        [!isQuantity(quantity), `resource ${name}: ${quantity} is not a quantity`],
      ),
    ),
  ];
}

function environmentProblems({ name, valueFrom }: NonNullable<Container['env']>[number]): string[] {
  if (!valueFrom) return [];
  const path = valueFrom.fieldRef?.fieldPath;
  if (path === undefined) return [`env ${name}: valueFrom other than fieldRef is not supported`];
  return isKnownField(path) ? [] : [`env ${name}: field ${path} is not supported`];
}

function isQuantity(value: string | number | undefined): boolean {
  if (value === undefined) return true;
  try {
    return parseQuantity(value) >= 0;
  } catch (err) {
    if (isFault(err, 'invalid')) return false;
    throw err;
  }
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..');
}
