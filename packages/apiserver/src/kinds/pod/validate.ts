/** What may be said of a pod. */
import type { PodSpec } from '@hutch/kube-meta';
import {
  forbiddenField,
  invalidValue,
  type Problem,
  required,
  tooLong,
  unsupportedValue,
} from '../../problems.ts';
import {
  addressOf,
  dnsLabelOf,
  dnsSubdomainOf,
  eachOf,
  inRange,
  labelNameOf,
  labelsOf,
  oneOf,
} from '../checks.ts';
import type { ApiObject } from '../kind.ts';
import { requirementProblems } from '../resources.ts';
import { containersProblems, imageProblems, initContainersProblems } from './containers.ts';
import { affinityProblems, gatesProblems, spreadProblems, tolerationsProblems } from './scheduling.ts';
import { podSecurityProblems } from './security.ts';
import { podSpec } from './spec.ts';
import { podUpdateProblems, statusUpdateProblems } from './update-rules.ts';
import { volumesProblems } from './volumes.ts';

export function validatePod(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const spec = podSpec(object);
  const own = [
    ...specProblems(spec, 'spec'),
    ...imageProblems(spec.containers, 'spec.containers'),
    ...imageProblems(spec.initContainers, 'spec.initContainers'),
  ];
  if (old) return [...own, ...podUpdateProblems(object, old), ...statusUpdateProblems(object, old)];
  const isGated = (spec.schedulingGates ?? []).length > 0;
  return [
    ...own,
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...(spec.nodeName && isGated
      ? [forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
  ];
}

function specProblems(spec: PodSpec, path: string): Problem[] {
  const { volumes, problems } = volumesProblems(spec.volumes, `${path}.volumes`);
  return [
    ...problems,
    ...containersProblems(spec, volumes, `${path}.containers`),
    ...initContainersProblems(spec, volumes, `${path}.initContainers`),
    ...(spec.resources ? requirementProblems(spec.resources, `${path}.resources`) : []),
    ...hostPortProblems(spec, `${path}.containers`),
    ...oneOf(`${path}.restartPolicy`, spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
    ...labelsOf(`${path}.nodeSelector`, spec.nodeSelector as Readonly<Record<string, string>> | undefined),
    ...podSecurityProblems(spec, `${path}.securityContext`),
    ...affinityProblems(spec.affinity, `${path}.affinity`),
    ...dnsConfigProblems(spec, `${path}.dnsConfig`),
    ...eachOf(spec.readinessGates, `${path}.readinessGates`, ({ conditionType }, at) =>
      labelNameOf(`${at}.conditionType`, conditionType),
    ),
    ...gatesProblems(spec.schedulingGates, `${path}.schedulingGates`),
    ...spreadProblems(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`),
    ...hostUsersProblems(spec, path),
    ...hostnameProblems(spec, `${path}.hostnameOverride`),
    ...nameProblems(spec, path),
    ...tolerationsProblems(spec.tolerations, `${path}.tolerations`),
    ...eachOf(spec.hostAliases, `${path}.hostAliases`, ({ ip, hostnames }, at) => [
      ...addressOf(`${at}.ip`, ip),
      ...eachOf(hostnames, `${at}.hostnames`, (hostname, place) => dnsSubdomainOf(place, hostname)),
    ]),
    ...(spec.priorityClassName ? dnsSubdomainOf(`${path}.priorityClassName`, spec.priorityClassName) : []),
    ...(spec.runtimeClassName === undefined
      ? []
      : dnsSubdomainOf(`${path}.runtimeClassName`, spec.runtimeClassName)),
    ...(spec.preemptionPolicy === undefined
      ? []
      : oneOf(`${path}.preemptionPolicy`, spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'])),
    ...(spec.os ? osProblems(spec.os.name, `${path}.os`) : []),
  ];
}

function nameProblems(spec: PodSpec, path: string): Problem[] {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline, hostname, subdomain } = spec;
  return [
    ...(serviceAccountName ? dnsSubdomainOf(`${path}.serviceAccountName`, serviceAccountName) : []),
    ...(nodeName ? dnsSubdomainOf(`${path}.nodeName`, nodeName) : []),
    ...(deadline === undefined ? [] : inRange(`${path}.activeDeadlineSeconds`, deadline, 1, 2 ** 31 - 1)),
    ...(hostname ? dnsLabelOf(`${path}.hostname`, hostname) : []),
    ...(subdomain ? dnsLabelOf(`${path}.subdomain`, subdomain) : []),
  ];
}

function hostPortProblems({ hostNetwork, containers }: PodSpec, path: string): Problem[] {
  if (!hostNetwork) return [];
  return eachOf(containers, path, ({ ports }, at) =>
    eachOf(ports, `${at}.ports`, ({ hostPort = 0, containerPort }, place) =>
      hostPort === containerPort
        ? []
        : [
            invalidValue(
              `${place}.hostPort`,
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );
}

function hostUsersProblems({ hostUsers, hostNetwork, hostPID, hostIPC }: PodSpec, path: string): Problem[] {
  if (hostUsers !== false) return [];
  const shared = [
    ['hostNetwork', hostNetwork],
    ['HostPID', hostPID],
    ['HostIPC', hostIPC],
  ] as const;
  return shared
    .filter(([, isShared]) => isShared)
    .map(([field]) => forbiddenField(`${path}.${field}`, 'when `hostUsers` is false'));
}

function dnsConfigProblems({ dnsConfig, dnsPolicy }: PodSpec, path: string): Problem[] {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === 'None' && !dnsConfig) {
    return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  }
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    return [
      required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
    ];
  }
  return [
    ...(nameservers.length > 3
      ? [invalidValue(`${path}.nameservers`, nameservers, 'must not have more than 3 nameservers')]
      : []),
    ...eachOf(nameservers, `${path}.nameservers`, (server, at) => addressOf(at, server)),
    ...(searches.length > 32
      ? [invalidValue(`${path}.searches`, searches, 'must not have more than 32 search paths')]
      : []),
    ...eachOf(searches, `${path}.searches`, (search, at) =>
      search === '.' ? [] : searchProblems(search.replace(/\.$/, ''), at),
    ),
    ...eachOf(options, `${path}.options`, ({ name = '' }, at) =>
      name === '' ? [required(at, 'must not be empty')] : [],
    ),
  ];
}

const searchForm = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*';
const searchRegExp = new RegExp(`^${searchForm}$`);

/** A domain to look names up in, which may have underscores. */
function searchProblems(search: string, path: string): Problem[] {
  if (search.length > 253) return [invalidValue(path, search, 'must be no more than 253 characters')];
  if (searchRegExp.test(search)) return [];
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  return [
    invalidValue(path, search, `${rule} (e.g. 'example.com', regex used for validation is '${searchForm}')`),
  ];
}

function hostnameProblems(spec: PodSpec, path: string): Problem[] {
  const { hostnameOverride: name, setHostnameAsFQDN, hostNetwork } = spec;
  if (name === undefined) return [];
  return [
    ...(setHostnameAsFQDN
      ? [forbiddenField(path, 'may not be specified when setHostnameAsFQDN is true')]
      : []),
    ...(hostNetwork ? [forbiddenField(path, 'may not be specified when hostNetwork is true')] : []),
    ...(name.length > 64 ? [tooLong(path, 64)] : []),
    ...dnsSubdomainOf(path, name),
  ];
}

function osProblems(name: string, path: string): Problem[] {
  if (name === '') return [required(`${path}.name`)];
  return name === 'linux' || name === 'windows' ? [] : [unsupportedValue(path, name, ['linux', 'windows'])];
}
