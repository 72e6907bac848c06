/**
 * Gives services their addresses and node ports: the one asked for if it is free, any free one otherwise.
 *
 * Which ones are taken is read from the stored services, so there is no table that could disagree with them. Those
 * of writes that are not durable yet are reserved; a write that fails lets go of them.
 */
import { invalid, jsonEquals, type Resource, services } from '@hutch/kube-meta';
import { omit } from '../../json.ts';
import { invalidValue } from '../../problems.ts';
import type { ApiObject, Around } from '../kind.ts';
import {
  isHeadless,
  isNamedElsewhere,
  isReachedThroughNodes,
  needsHealthCheck,
  type ServicePort,
  type ServiceSpec,
  serviceSpec,
} from './spec.ts';
import { familyProblems } from './validate.ts';

/** 10.96.0.0/16. Its first address is the API server's own service. */
const range = { prefix: [10, 96] as const };
const ports = { first: 30_000, last: 32_767 };

export function allocateService(object: ApiObject, around: Around): ApiObject {
  const spec = withListedAddress(serviceSpec(object));
  return { ...omit(object, 'status'), spec: allocated(spec, object, around), status: { loadBalancer: {} } };
}

/** What the service had it keeps, unless the update says otherwise or its new type has no use for it. */
export function reallocateService(object: ApiObject, old: ApiObject, around: Around): ApiObject {
  const before = serviceSpec(old);
  const patched = withKept(withoutNeedless(serviceSpec(object), before), before);
  const spec = withListedAddress(withChangedAddress(patched, before));
  return { ...object, spec: allocated(spec, object, around, before) };
}

function refused(object: ApiObject, field: string, value: unknown, detail: string): Error {
  return invalid(services as Resource, object.metadata.name, [invalidValue(field, value, detail)]);
}

/** `clusterIP` is the first of `clusterIPs`; a client may say either. */
function withListedAddress(spec: ServiceSpec): ServiceSpec {
  const { clusterIP, clusterIPs = [] } = spec;
  return clusterIP && clusterIPs.length === 0 ? { ...spec, clusterIPs: [clusterIP] } : spec;
}

/** Who changes the one and leaves the other means both. */
function withChangedAddress(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const { clusterIP } = spec;
  const isSameList = jsonEquals(spec.clusterIPs, before.clusterIPs);
  if (clusterIP === before.clusterIP || !isSameList) return spec;
  return clusterIP ? { ...spec, clusterIPs: [clusterIP] } : (omit(spec, 'clusterIPs') as ServiceSpec);
}

function allocated(spec: ServiceSpec, object: ApiObject, around: Around, before?: ServiceSpec): ServiceSpec {
  const taken = takenBy(around, object);
  const withFamilies = familiesOf(spec, object);
  const addressed = isNamedElsewhere(spec)
    ? withFamilies
    : withAddress(withFamilies, object, { around, taken, before });
  return withNodePorts(addressed, object, { around, taken, before });
}

interface Taken {
  readonly addresses: ReadonlySet<string>;
  readonly nodePorts: ReadonlySet<number>;
}

interface Room {
  readonly around: Around;
  readonly taken: Taken;
  readonly before: ServiceSpec | undefined;
}

function takenBy(around: Around, { metadata }: ApiObject): Taken {
  const specs = around
    .list(services)
    .filter((other) => other.metadata.uid !== metadata.uid)
    .map(serviceSpec);
  const nodePorts = specs.flatMap((spec) => [
    ...(spec.ports ?? []).map((port) => port.nodePort ?? 0),
    spec.healthCheckNodePort ?? 0,
  ]);
  return {
    addresses: new Set([address(1), ...specs.flatMap((spec) => spec.clusterIPs ?? [])]),
    nodePorts: new Set(nodePorts),
  };
}

// ---- families -------------------------------------------------------------------------------------------

function familiesOf(spec: ServiceSpec, object: ApiObject): ServiceSpec {
  if (isNamedElsewhere(spec)) return spec;
  const hasNoPods = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  const policy = spec.ipFamilyPolicy ?? (hasNoPods ? 'RequireDualStack' : 'SingleStack');
  const wanted: ServiceSpec = { ...spec, ipFamilyPolicy: policy };
  const problems = familyProblems(wanted);
  if (problems.length > 0) throw invalid(services, object.metadata.name, problems);
  if (policy === 'SingleStack' && (spec.ipFamilies ?? []).length === 2) {
    const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
    throw refused(object, 'spec.ipFamilyPolicy', policy, detail);
  }
  const families = spec.ipFamilies ?? [];
  if (hasNoPods) {
    const [first = 'IPv4'] = families;
    const both = policy === 'SingleStack' ? [first] : [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
    return { ...wanted, ipFamilies: families.length === 2 ? families : (both as typeof families) };
  }
  if (policy === 'RequireDualStack') {
    throw refused(
      object,
      'spec.ipFamilyPolicy',
      policy,
      'this cluster is not configured for dual-stack services',
    );
  }
  const foreign = families.findIndex((family) => family !== 'IPv4');
  if (foreign >= 0) {
    throw refused(object, `spec.ipFamilies[${foreign}]`, families[foreign], 'not configured on this cluster');
  }
  return { ...wanted, ipFamilies: families.length > 0 ? families : ['IPv4'] };
}

// ---- addresses ------------------------------------------------------------------------------------------

function address(offset: number): string {
  return `${range.prefix.join('.')}.${offset >> 8}.${offset & 255}`;
}

function isInRange(ip: string): boolean {
  const [first, second, third = 0, fourth = 0] = ip.split('.').map(Number);
  const offset = third * 256 + fourth;
  return first === range.prefix[0] && second === range.prefix[1] && offset > 0 && offset < 65_535;
}

function withAddress(spec: ServiceSpec, object: ApiObject, { around, taken, before }: Room): ServiceSpec {
  if (isHeadless(spec)) return spec;
  const [asked] = spec.clusterIPs ?? [];
  const isKept = asked !== undefined && before?.clusterIPs?.[0] === asked;
  if (isKept) return spec;
  const ip = asked ?? freeAddress(taken, around);
  if (asked !== undefined) {
    const refuse = (why: string) =>
      refused(object, 'spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${asked}: ${why}`);
    if (!isInRange(asked)) throw refuse('the provided network does not match the current range');
    if (taken.addresses.has(asked) || !around.reserve(`address ${asked}`)) {
      throw refuse('provided IP is already allocated');
    }
  }
  if (ip === undefined) throw refused(object, 'spec.clusterIPs', [], 'failed to allocate IP: range is full');
  return { ...spec, clusterIP: ip, clusterIPs: [ip] };
}

/** At random, so that an address that was just let go of is not soon somebody else's. */
function freeAddress({ addresses }: Taken, around: Around): string | undefined {
  const size = 65_534;
  // The lowest addresses are left to those who ask for one.
  const start = 256 + Math.floor(Math.random() * (size - 256));
  for (let step = 0; step < size; step++) {
    const ip = address(1 + ((start + step) % size));
    if (!addresses.has(ip) && around.reserve(`address ${ip}`)) return ip;
  }
  return undefined;
}

// ---- node ports -----------------------------------------------------------------------------------------

function withNodePorts(spec: ServiceSpec, object: ApiObject, room: Room): ServiceSpec {
  const allocates =
    spec.type === 'NodePort' ||
    (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
  const kept = new Set((room.before?.ports ?? []).map((port) => port.nodePort ?? 0));
  // Two protocols of one port share their node port.
  const byPort = new Map<number, number>();
  const numbered = (port: ServicePort, at: number): ServicePort => {
    const { nodePort = 0 } = port;
    if (nodePort === 0 && !allocates) return port;
    const shared = byPort.get(port.port);
    const chosen = nodePort || shared || freePort(object, room);
    const isNew = nodePort !== 0 && nodePort !== shared && !kept.has(nodePort);
    if (isNew && isReachedThroughNodes(spec)) claimPort(nodePort, object, { ...room, at });
    byPort.set(port.port, shared ?? chosen);
    return { ...port, nodePort: chosen };
  };
  const result = spec.ports ? { ...spec, ports: spec.ports.map(numbered) } : spec;
  if (!needsHealthCheck(result) || result.healthCheckNodePort) return result;
  return { ...result, healthCheckNodePort: freePort(object, room) };
}

function claimPort(port: number, object: ApiObject, { around, taken, at }: Room & { at: number }): void {
  const refuse = (why: string) => refused(object, `spec.ports[${at}].nodePort`, port, why);
  if (port < ports.first || port > ports.last) {
    throw refuse(
      `provided port is not in the valid range. The range of valid ports is ${ports.first}-${ports.last}`,
    );
  }
  if (taken.nodePorts.has(port) || !around.reserve(`node port ${port}`)) {
    throw refuse('provided port is already allocated');
  }
}

function freePort(object: ApiObject, { around, taken }: Room): number {
  const size = ports.last - ports.first + 1;
  const start = Math.floor(Math.random() * size);
  for (let step = 0; step < size; step++) {
    const port = ports.first + ((start + step) % size);
    if (!taken.nodePorts.has(port) && around.reserve(`node port ${port}`)) return port;
  }
  throw refused(object, 'spec.ports', [], 'failed to allocate a nodePort: range is full');
}

// ---- updates --------------------------------------------------------------------------------------------

/** An update that leaves out what was allocated means to keep it. */
function withKept(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const keepsAddress = !isNamedElsewhere(before) && !isNamedElsewhere(spec);
  const { clusterIP = before.clusterIP, clusterIPs = before.clusterIPs } = spec;
  const kept = keepsAddress
    ? { ...spec, ...(clusterIP ? { clusterIP } : {}), ...(clusterIPs ? { clusterIPs } : {}) }
    : spec;
  if (!isReachedThroughNodes(before) || !isReachedThroughNodes(spec)) return kept;
  const used = new Set((spec.ports ?? []).map((port) => port.nodePort));
  const old = new Map((before.ports ?? []).map((port) => [port.name, port.nodePort]));
  const ports = (kept.ports ?? []).map((port) => {
    const nodePort = port.nodePort || old.get(port.name);
    return port.nodePort || nodePort === undefined || used.has(nodePort) ? port : { ...port, nodePort };
  });
  return {
    ...kept,
    ports,
    ...(needsHealthCheck(before) && needsHealthCheck(kept) && !kept.healthCheckNodePort
      ? { healthCheckNodePort: before.healthCheckNodePort as number }
      : {}),
  };
}

/** What only the old type used goes with it, unless the client changed it by hand. */
function withoutNeedless(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const same = (field: keyof ServiceSpec) => JSON.stringify(spec[field]) === JSON.stringify(before[field]);
  const dropped: (keyof ServiceSpec)[] = [];
  if (!isNamedElsewhere(before) && isNamedElsewhere(spec)) {
    if (same('clusterIP') && same('clusterIPs')) dropped.push('clusterIP', 'clusterIPs');
    if (same('ipFamilies')) dropped.push('ipFamilies');
    if (same('ipFamilyPolicy')) dropped.push('ipFamilyPolicy');
    if (same('internalTrafficPolicy')) dropped.push('internalTrafficPolicy');
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec) && same('healthCheckNodePort')) {
    dropped.push('healthCheckNodePort');
  }
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (same('allocateLoadBalancerNodePorts')) dropped.push('allocateLoadBalancerNodePorts');
    if (same('loadBalancerClass')) dropped.push('loadBalancerClass');
  }
  const leavesNodes = isReachedThroughNodes(before) && !isReachedThroughNodes(spec);
  if (leavesNodes && same('externalTrafficPolicy')) dropped.push('externalTrafficPolicy');
  const rest = omit(spec, ...dropped) as ServiceSpec;
  const portsOf = ({ ports: list = [] }: ServiceSpec) => list.map((port) => port.nodePort).join();
  if (!leavesNodes || portsOf(spec) !== portsOf(before) || !rest.ports) return rest;
  return { ...rest, ports: rest.ports.map((port) => omit(port, 'nodePort') as ServicePort) };
}
