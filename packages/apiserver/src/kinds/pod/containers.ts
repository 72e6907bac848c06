/** What may be said of a pod's containers. */
import type { Container, PodSpec } from '@hutch/kube-meta';
import { duplicate, invalidValue, type Problem, required, unsupportedValue } from '../../problems.ts';
import { dnsLabelOf, eachOf, oneOf, portNameOf, portNumberOf } from '../checks.ts';
import { requirementProblems } from '../resources.ts';
import { envFromProblems, envProblems } from './env.ts';
import { probesForbidden, probesProblems } from './probes.ts';
import { securityProblems } from './security.ts';
import { devicesProblems, mountsProblems, type Volumes } from './volumes.ts';

const protocols = ['SCTP', 'TCP', 'UDP'];
const restartPolicies = ['Always', 'Never', 'OnFailure'];

export function containersProblems(spec: PodSpec, volumes: Volumes, path: string): Problem[] {
  const { containers } = spec;
  if (!containers || containers.length === 0) return [required(path)];
  const names = new Set<string>();
  return [
    ...eachOf(containers, path, (container, at) => {
      const problems = [
        ...commonProblems(container, { spec, volumes }, at),
        ...(names.has(container.name) ? [duplicate(`${at}.name`, container.name)] : []),
        ...probesProblems(container, at, graceOf(spec)),
        ...restartProblems(container, at),
      ];
      names.add(container.name);
      return problems;
    }),
    ...hostPortProblems(containers, path),
  ];
}

export function initContainersProblems(spec: PodSpec, volumes: Volumes, path: string): Problem[] {
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  return eachOf(spec.initContainers, path, (container, at) => {
    const isSidecar = container.restartPolicy === 'Always';
    const problems = [
      ...commonProblems(container, { spec, volumes }, at),
      ...restartProblems(container, at),
      ...(names.has(container.name) ? [duplicate(`${at}.name`, container.name)] : []),
      ...hostPortProblems([container], path),
      ...(isSidecar ? probesProblems(container, at, graceOf(spec)) : probesForbidden(container, at)),
    ];
    if (container.name !== '') names.add(container.name);
    return problems;
  });
}

function graceOf({ terminationGracePeriodSeconds = 30 }: PodSpec): number {
  return terminationGracePeriodSeconds;
}

function commonProblems(
  container: Container,
  { spec, volumes }: { spec: PodSpec; volumes: Volumes },
  path: string,
): Problem[] {
  const { name, image = '', securityContext } = container;
  return [
    ...(name === '' ? [required(`${path}.name`)] : dnsLabelOf(`${path}.name`, name)),
    ...(image === '' ? [required(`${path}.image`)] : []),
    ...oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...portsProblems(container.ports, `${path}.ports`),
    ...envProblems(container.env, `${path}.env`),
    ...envFromProblems(container.envFrom, `${path}.envFrom`),
    ...mountsProblems(container, volumes, `${path}.volumeMounts`),
    ...devicesProblems(container, volumes, `${path}.volumeDevices`),
    ...oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']),
    ...requirementProblems(container.resources ?? {}, `${path}.resources`),
    ...(securityContext
      ? securityProblems(securityContext, `${path}.securityContext`, spec.hostUsers !== false)
      : []),
  ];
}

function portsProblems(ports: Container['ports'], path: string): Problem[] {
  const names = new Set<string>();
  return eachOf(ports, path, ({ name = '', containerPort, hostPort = 0, protocol = '' }, at) => {
    const named = name === '' ? [] : portNameOf(`${at}.name`, name);
    const isRepeated = name !== '' && named.length === 0 && names.has(name);
    names.add(name);
    return [
      ...named,
      ...(isRepeated ? [duplicate(`${at}.name`, name)] : []),
      ...(containerPort === 0
        ? [required(`${at}.containerPort`)]
        : portNumberOf(`${at}.containerPort`, containerPort)),
      ...(hostPort === 0 ? [] : portNumberOf(`${at}.hostPort`, hostPort)),
      ...oneOf(`${at}.protocol`, protocol, protocols),
    ];
  });
}

function hostPortProblems(containers: readonly Container[], path: string): Problem[] {
  const taken = new Set<string>();
  return eachOf(containers, path, ({ ports }, at) =>
    eachOf(ports, `${at}.ports`, ({ protocol, hostIP = '', hostPort = 0 }, place) => {
      if (hostPort === 0) return [];
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) return [duplicate(`${place}.hostPort`, key)];
      taken.add(key);
      return [];
    }),
  );
}

function restartProblems({ restartPolicy, restartPolicyRules = [] }: Container, path: string): Problem[] {
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return [];
    return [required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used')];
  }
  if (restartPolicies.includes(restartPolicy)) return [];
  return [unsupportedValue(`${path}.restartPolicy`, restartPolicy, restartPolicies)];
}

export function imageProblems(list: readonly Container[] | undefined, path: string): Problem[] {
  return eachOf(list, path, ({ image = '' }, at) =>
    image === image.trim()
      ? []
      : [invalidValue(`${at}.image`, image, 'must not have leading or trailing whitespace')],
  );
}
