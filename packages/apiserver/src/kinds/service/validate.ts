/** What may be said of a service. */
import { isIP } from 'node:net';
import { labelKeyProblems } from '@hutch/kube-meta';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  type Problem,
  required,
  unsupportedValue,
} from '../../problems.ts';
import {
  addressOf,
  dnsLabelOf,
  dnsSubdomainOf,
  eachOf,
  invalidBy,
  labelsOf,
  oneOf,
  portNumberOf,
  portOf,
  rangeProblems,
  specialAddressProblems,
} from '../checks.ts';
import type { ApiObject } from '../kind.ts';
import {
  isHeadless,
  isNamedElsewhere,
  isReachedFromOutside,
  needsHealthCheck,
  type ServicePort,
  type ServiceSpec,
  serviceSpec,
} from './spec.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];

export function serviceWarnings(object: ApiObject): string[] {
  const { externalIPs = [] } = serviceSpec(object);
  if (externalIPs.length === 0) return [];
  return ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'];
}

export function validateService(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const spec = serviceSpec(object);
  return [
    ...(old ? updateProblems(spec, serviceSpec(old)) : []),
    ...specProblems(spec),
    ...ingressProblems(object, spec),
  ];
}

function ingressProblems({ status }: ApiObject, { type }: ServiceSpec): Problem[] {
  const { loadBalancer } = (status ?? {}) as { loadBalancer?: { ingress?: readonly unknown[] } };
  if (type === 'LoadBalancer' || (loadBalancer?.ingress ?? []).length === 0) return [];
  return [
    forbiddenField('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'"),
  ];
}

function specProblems(spec: ServiceSpec): Problem[] {
  const { ports = [], type } = spec;
  return [
    ...(ports.length === 0 && !isHeadless(spec) && !isNamedElsewhere(spec) ? [required('spec.ports')] : []),
    ...typeProblems(spec),
    ...portsProblems(ports, 'spec.ports'),
    ...labelsOf('spec.selector', spec.selector as Readonly<Record<string, string>> | undefined),
    ...affinityProblems(spec),
    ...familyProblems(spec),
    ...eachOf(spec.externalIPs, 'spec.externalIPs', (ip, at) => {
      const malformed = addressOf(at, ip);
      return malformed.length > 0 ? malformed : specialAddressProblems(at, ip);
    }),
    ...oneOf('spec.type', type, types),
    ...nodePortProblems(spec, 'spec.ports'),
    ...balancerProblems(spec),
    ...trafficProblems(spec),
  ];
}

function typeProblems(spec: ServiceSpec): Problem[] {
  const { type, clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' } = spec;
  if (type === 'LoadBalancer' || type === 'NodePort') {
    const detail = `may not be set to 'None' for ${type} services`;
    return isHeadless(spec) ? [invalidValue('spec.clusterIPs[0]', clusterIPs[0], detail)] : [];
  }
  if (type !== 'ExternalName') return [];
  const detail = 'may not be set for ExternalName services';
  const host = externalName.replace(/\.$/, '');
  return [
    ...(clusterIPs.length > 0 ? [forbiddenField('spec.clusterIPs', detail)] : []),
    ...(ipFamilies.length > 0 ? [forbiddenField('spec.ipFamilies', detail)] : []),
    ...(ipFamilyPolicy === undefined ? [] : [forbiddenField('spec.ipFamilyPolicy', detail)]),
    ...(host === '' ? [required('spec.externalName')] : dnsSubdomainOf('spec.externalName', host)),
  ];
}

function portsProblems(ports: readonly ServicePort[], path: string): Problem[] {
  const names = new Set<string>();
  return eachOf(ports, path, ({ name = '', port, protocol, targetPort = 0, appProtocol }, at) => {
    const named =
      name === '' ? (ports.length > 1 ? [required(`${at}.name`)] : []) : dnsLabelOf(`${at}.name`, name);
    const isRepeated = name !== '' && names.has(name);
    names.add(name);
    return [
      ...named,
      ...(isRepeated ? [duplicate(`${at}.name`, name)] : []),
      ...portNumberOf(`${at}.port`, port),
      ...oneOf(`${at}.protocol`, protocol, protocols),
      ...portOf(`${at}.targetPort`, targetPort),
      ...(appProtocol === undefined
        ? []
        : invalidBy(`${at}.appProtocol`, appProtocol, labelKeyProblems(appProtocol))),
    ];
  });
}

function affinityProblems({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): Problem[] {
  const path = 'spec.sessionAffinityConfig';
  const supported = oneOf('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  if (sessionAffinity !== 'ClientIP') return supported;
  const seconds = config?.clientIP?.timeoutSeconds ?? 0;
  const detail = 'must be greater than 0 and less than 86400';
  if (seconds > 0 && seconds <= 86_400) return supported;
  return [...supported, invalidValue(`${path}.clientIP.timeoutSeconds`, seconds, detail)];
}

/** The members that say by which addresses a service is reached inside the cluster. */
export function familyProblems(spec: ServiceSpec): Problem[] {
  if (isNamedElsewhere(spec)) return [];
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const seen = new Set<string>();
  const first =
    clusterIP === ''
      ? clusterIPs.length > 0
        ? [invalidValue('spec.clusterIPs', clusterIPs, 'must be empty when `clusterIP` is not specified')]
        : []
      : clusterIPs.length > 0 && clusterIPs[0] !== clusterIP
        ? [invalidValue('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`')]
        : [];
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  const isMixed = clusterIPs[0] === 'None' && clusterIPs.length > 1;
  const addresses = clusterIPs.filter((ip) => ip !== 'None');
  return [
    ...first,
    ...eachOf(ipFamilies, 'spec.ipFamilies', (family, at) => {
      const isRepeated = seen.has(family);
      seen.add(family);
      return [
        ...(family === 'IPv4' || family === 'IPv6' ? [] : [unsupportedValue(at, family, ['IPv4', 'IPv6'])]),
        ...(isRepeated ? [duplicate(at, family)] : []),
      ];
    }),
    ...(ipFamilyPolicy === undefined || policies.includes(ipFamilyPolicy)
      ? []
      : [unsupportedValue('spec.ipFamilyPolicy', ipFamilyPolicy, policies)]),
    ...(isMixed
      ? [invalidValue('spec.clusterIPs', clusterIPs, "'None' must be the first and only value")]
      : []),
    ...eachOf(clusterIPs, 'spec.clusterIPs', (ip, at, index) =>
      index === 0 && ip === 'None' ? [] : addressOf(at, ip),
    ),
    ...(clusterIPs.length > 2
      ? [invalidValue('spec.clusterIPs', clusterIPs, 'may only hold up to 2 values')]
      : []),
    ...(addresses.length === 2 && isIP(addresses[0] ?? '') === isIP(addresses[1] ?? '')
      ? [invalidValue('spec.clusterIPs', clusterIPs, 'may specify no more than one IP for each IP family')]
      : []),
    ...eachOf(addresses, 'spec.clusterIPs', (ip, at, index) => {
      const family = ipFamilies[index];
      const version = isIP(ip);
      if (family === undefined || version === 0 || family === `IPv${version}`) return [];
      return [invalidValue(at, ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``)];
    }),
  ];
}

function nodePortProblems({ ports = [], type }: ServiceSpec, path: string): Problem[] {
  const nodePorts = new Set<string>();
  const numbers = new Set<string>();
  const isNew = (set: Set<string>, key: string) => set.size < set.add(key).size;
  const detail = "may not be used when `type` is 'ClusterIP'";
  return [
    ...(type === 'ClusterIP'
      ? eachOf(ports, path, ({ nodePort }, at) =>
          nodePort ? [forbiddenField(`${at}.nodePort`, detail)] : [],
        )
      : []),
    ...eachOf(ports, path, ({ nodePort, protocol }, at) =>
      !nodePort || isNew(nodePorts, `${protocol}/${nodePort}`) ? [] : [duplicate(`${at}.nodePort`, nodePort)],
    ),
    ...eachOf(ports, path, ({ port, protocol }, at) =>
      isNew(numbers, `${protocol}/${port}`) ? [] : [duplicate(at, repeatedPort(port, protocol))],
    ),
  ];
}

/** As the server shows it: a port of which nothing else is told. */
function repeatedPort(port: number, protocol: string | undefined): object {
  return { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

function balancerProblems(spec: ServiceSpec): Problem[] {
  const { type, loadBalancerSourceRanges = [], allocateLoadBalancerNodePorts, loadBalancerClass } = spec;
  const ranges = eachOf(loadBalancerSourceRanges, 'spec.LoadBalancerSourceRanges', (range, at) =>
    rangeProblems(at, range.trim()),
  );
  if (type === 'LoadBalancer') {
    return [
      ...ranges,
      ...(loadBalancerClass === undefined
        ? []
        : invalidBy('spec.loadBalancerClass', loadBalancerClass, labelKeyProblems(loadBalancerClass))),
    ];
  }
  const detail = "may only be used when `type` is 'LoadBalancer'";
  return [
    ...(loadBalancerSourceRanges.length > 0 ? [forbiddenField('spec.LoadBalancerSourceRanges', detail)] : []),
    ...ranges,
    ...(allocateLoadBalancerNodePorts === undefined
      ? []
      : [forbiddenField('spec.allocateLoadBalancerNodePorts', detail)]),
    ...(loadBalancerClass === undefined ? [] : [forbiddenField('spec.loadBalancerClass', detail)]),
  ];
}

const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function trafficProblems(spec: ServiceSpec): Problem[] {
  const { externalTrafficPolicy, healthCheckNodePort = 0, internalTrafficPolicy, trafficDistribution } = spec;
  const policies = ['Cluster', 'Local'];
  const external = isReachedFromOutside(spec)
    ? oneOf('spec.externalTrafficPolicy', externalTrafficPolicy, policies)
    : externalTrafficPolicy
      ? [
          invalidValue(
            'spec.externalTrafficPolicy',
            externalTrafficPolicy,
            'may only be set for externally-accessible services',
          ),
        ]
      : [];
  const health =
    !needsHealthCheck(spec) && healthCheckNodePort !== 0
      ? [
          invalidValue(
            'spec.healthCheckNodePort',
            healthCheckNodePort,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
          ),
        ]
      : [];
  return [
    ...external,
    ...health,
    ...(internalTrafficPolicy === undefined || policies.includes(internalTrafficPolicy)
      ? []
      : [unsupportedValue('spec.internalTrafficPolicy', internalTrafficPolicy, policies)]),
    ...(trafficDistribution === undefined || distributions.includes(trafficDistribution)
      ? []
      : [unsupportedValue('spec.trafficDistribution', trafficDistribution, distributions)]),
  ];
}

function updateProblems(spec: ServiceSpec, before: ServiceSpec): Problem[] {
  if (isNamedElsewhere(spec) || isNamedElsewhere(before)) return [];
  const [{ clusterIPs = [] }, { clusterIPs: old = [] }] = [spec, before];
  if (old.length > 0 && clusterIPs.length === 0) {
    return [invalidValue('spec.clusterIPs[0]', clusterIPs, 'primary clusterIP can not be unset')];
  }
  const changed = old[0] !== undefined && clusterIPs[0] !== old[0];
  return [
    ...(changed ? [invalidValue('spec.clusterIPs[0]', clusterIPs, 'may not change once set')] : []),
    ...(before.type === 'LoadBalancer' &&
    spec.type === 'LoadBalancer' &&
    before.loadBalancerClass !== spec.loadBalancerClass
      ? [invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set')]
      : []),
    ...(needsHealthCheck(before) &&
    needsHealthCheck(spec) &&
    before.healthCheckNodePort !== spec.healthCheckNodePort
      ? [forbiddenField('spec.healthCheckNodePort', 'field is immutable')]
      : []),
  ];
}
