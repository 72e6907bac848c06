/** Kinds with few rules of their own: nodes, leases, disruption budgets, priority and runtime classes, endpoint slices. */
import { isIPv4, isIPv6 } from 'node:net';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  type EndpointSlice,
  jsonEquals,
  labelKeyProblems,
  labelValueProblems,
  type Node,
  type PodDisruptionBudget,
} from '@hutch/kube-meta';
import { isObject, omit } from '../json.ts';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  type Problem,
  required,
  tooMany,
  unsupportedValue,
} from '../problems.ts';
import {
  addressOf,
  dnsLabelOf,
  eachOf,
  invalidBy,
  labelNameOf,
  labelSelectorOf,
  notNegative,
  oneOf,
  specialAddressProblems,
  unchanged,
} from './checks.ts';
import type { ApiObject } from './kind.ts';

// ---- nodes ----------------------------------------------------------------------------------------------

/** The first of the ranges has a member of its own, from when there was only one. */
export function defaultNode(object: ApiObject): ApiObject {
  const { spec = {} } = object as Node;
  const { podCIDR, podCIDRs = [] } = spec;
  if (podCIDRs.length > 0) return { ...object, spec: { ...spec, podCIDR: podCIDRs[0] } };
  return podCIDR ? { ...object, spec: { ...spec, podCIDRs: [podCIDR] } } : object;
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateNode(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const { spec = {} } = object as Node;
  const before = (old as Node | undefined)?.spec ?? {};
  const seen = new Set<string>();
  return [
    ...(before.podCIDRs && !jsonEquals(before.podCIDRs, spec.podCIDRs)
      ? [forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')]
      : []),
    ...(before.providerID && before.providerID !== spec.providerID
      ? [forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid')]
      : []),
    ...eachOf(spec.taints, 'metadata.taints', ({ key, value = '', effect }, at) => {
      const details = labelValueProblems(value);
      const pair = `${key}/${effect}`;
      const isRepeated = seen.has(pair);
      seen.add(pair);
      return [
        ...labelNameOf(`${at}.key`, key),
        ...(details.length === 0 ? [] : [invalidValue(`${at}.value`, value, details.join(';'))]),
        ...oneOf(`${at}.effect`, effect, effects),
        ...(isRepeated ? [repeatedTaint(at, { key, value, effect })] : []),
      ];
    }),
  ];
}

function repeatedTaint(
  path: string,
  { key, value, effect }: { key: string; value: string; effect: string },
): Problem {
  const problem = duplicate(path, { Key: key, Value: value, Effect: effect, TimeAdded: null });
  return { ...problem, message: `${problem.message}: taints must be unique by key and effect pair` };
}

// ---- leases ---------------------------------------------------------------------------------------------

interface LeaseSpec {
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
}

/** Who holds a lease is not the server's to choose: that is a feature Kubernetes has not switched on. */
export function defaultLease(object: ApiObject): ApiObject {
  return isObject(object.spec)
    ? { ...object, spec: omit(object.spec, 'strategy', 'preferredHolder') }
    : object;
}

export function validateLease(object: ApiObject): Problem[] {
  const { leaseDurationSeconds: seconds, leaseTransitions } = (object.spec ?? {}) as LeaseSpec;
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...notNegative('spec.leaseTransitions', leaseTransitions),
  ];
}

// ---- disruption budgets ---------------------------------------------------------------------------------

export function validateDisruptionBudget(object: ApiObject): Problem[] {
  const { spec } = object as PodDisruptionBudget;
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  return [
    ...(minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalidValue('spec', shownBudget(spec), 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...(minAvailable === undefined ? [] : shareProblems(minAvailable, 'spec.minAvailable')),
    ...(maxUnavailable === undefined ? [] : shareProblems(maxUnavailable, 'spec.maxUnavailable')),
    ...labelSelectorOf('spec.selector', selector),
    ...(policy === undefined || policies.includes(policy)
      ? []
      : [unsupportedValue('spec.unhealthyPodEvictionPolicy', policy, policies)]),
  ];
}

/** As the server shows it: every member it can have. */
function shownBudget(spec: PodDisruptionBudget['spec']): object {
  return {
    MinAvailable: spec.minAvailable ?? null,
    Selector: spec.selector ?? null,
    MaxUnavailable: spec.maxUnavailable ?? null,
    UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
  };
}

/** A number of pods, or a percentage of them. */
function shareProblems(share: number | string, path: string): Problem[] {
  if (typeof share === 'number') return notNegative(path, share);
  if (!/^[0-9]+%$/.test(share)) {
    const detail =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalidValue(path, share, detail)];
  }
  return Number(share.slice(0, -1)) > 100 ? [invalidValue(path, share, 'must not be greater than 100%')] : [];
}

// ---- classes --------------------------------------------------------------------------------------------

interface PriorityClass extends ApiObject {
  readonly value: number;
  readonly preemptionPolicy?: string;
}

const highestPriority = 1_000_000_000;
const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

export function validatePriorityClass(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const { metadata, value, preemptionPolicy } = object as PriorityClass;
  if (old) {
    const before = old as PriorityClass;
    return [
      ...(value === before.value ? [] : [forbiddenField('value', 'may not be changed in an update.')]),
      ...unchanged('preemptionPolicy', preemptionPolicy, before.preemptionPolicy),
    ];
  }
  const { name } = metadata;
  const isSystem = name.startsWith('system-');
  const isKnown = systemPriorities[name] === value;
  const reserved = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
  return [
    ...(isSystem && !isKnown ? [forbiddenField('metadata.name', reserved)] : []),
    ...(!isSystem && value > highestPriority
      ? [forbiddenField('value', `maximum allowed value of a user defined priority is ${highestPriority}`)]
      : []),
    ...(preemptionPolicy === undefined
      ? []
      : oneOf('preemptionPolicy', preemptionPolicy, ['PreemptLowerPriority', 'Never'])),
  ];
}

/** A generation that is there and never counts. */
export function firstGeneration(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata, generation: 1 } };
}

interface RuntimeClass extends ApiObject {
  readonly handler: string;
}

export function validateRuntimeClass(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const { handler } = object as RuntimeClass;
  if (old) return unchanged('handler', handler, (old as RuntimeClass).handler);
  if (handler === '') return [required('handler')];
  return invalidBy('handler', handler, dnsLabelProblems(handler));
}

// ---- endpoint slices ------------------------------------------------------------------------------------

/** Labels of a slice say what it is of, so they count too. */
export function countSliceGeneration(object: ApiObject, old: ApiObject): ApiObject {
  const own = ({ metadata }: ApiObject) => [metadata.labels, metadata.annotations, metadata.ownerReferences];
  if (jsonEquals(own(object), own(old))) return object;
  const generation = (old.metadata.generation ?? 0) + 1;
  return { ...object, metadata: { ...object.metadata, generation } };
}

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const maxEndpoints = 1000;
const maxAddresses = 100;

export function validateEndpointSlice(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const { addressType, endpoints, ports } = object as unknown as EndpointSlice;
  const before = old as unknown as EndpointSlice | undefined;
  const names = new Set<string>();
  const isKept = before !== undefined && jsonEquals(before.endpoints, endpoints);
  return [
    ...oneOf('addressType', addressType, addressTypes),
    ...eachOf(ports, 'ports', ({ name = '', protocol, appProtocol }, at) => {
      const isRepeated = names.has(name);
      names.add(name);
      return [
        ...(name === '' ? [] : dnsLabelOf(`${at}.name`, name)),
        ...(isRepeated ? [duplicate(`${at}.name`, name)] : []),
        ...oneOf(`${at}.protocol`, protocol, protocols),
        ...(appProtocol === undefined
          ? []
          : invalidBy(`${at}.appProtocol`, appProtocol, labelKeyProblems(appProtocol))),
      ];
    }),
    ...(isKept ? [] : endpointsProblems(endpoints ?? [], addressType)),
    ...(before ? unchanged('addressType', addressType, before.addressType) : []),
  ];
}

type Endpoints = NonNullable<EndpointSlice['endpoints']>;

function endpointsProblems(endpoints: Endpoints, type: string): Problem[] {
  if (endpoints.length > maxEndpoints) return [tooMany('endpoints', endpoints.length, maxEndpoints)];
  return eachOf(endpoints, 'endpoints', ({ addresses, nodeName, hostname }, at) => {
    const list = addresses ?? [];
    return [
      ...(list.length === 0 ? [required(`${at}.addresses`, 'must contain at least 1 address')] : []),
      ...(list.length > maxAddresses ? [tooMany(`${at}.addresses`, list.length, maxAddresses)] : []),
      ...eachOf(list, `${at}.addresses`, (address, place) =>
        endpointProblems(address, type, place, `${at}.addresses`),
      ),
      ...(nodeName === undefined
        ? []
        : invalidBy(`${at}.nodeName`, nodeName, dnsSubdomainProblems(nodeName))),
      ...(hostname === undefined ? [] : dnsLabelOf(`${at}.hostname`, hostname)),
    ];
  });
}

function endpointProblems(address: string, type: string, path: string, list: string): Problem[] {
  if (type === 'FQDN') return invalidBy(path, address, dnsSubdomainProblems(address));
  const malformed = addressOf(path, address);
  if (malformed.length > 0) return malformed;
  const fits = type === 'IPv4' ? isIPv4(address) : isIPv6(address);
  return [
    ...(fits ? [] : [invalidValue(list, address, `must be an ${type} address`)]),
    ...specialAddressProblems(path, address),
  ];
}

/** References to secrets are names and nothing else. */
export function plainReferences(object: ApiObject): ApiObject {
  const { secrets } = object as ApiObject & { secrets?: unknown };
  if (!Array.isArray(secrets)) return object;
  const named = secrets.map((secret: unknown) => ({ name: isObject(secret) ? secret.name : undefined }));
  return { ...object, secrets: named } as ApiObject;
}
