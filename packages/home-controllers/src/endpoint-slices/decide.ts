/**
 * Which endpoint slices a service has and what is in them. No await, no clock, no client.
 *
 * Pods that answer on the same ports share slices. What is in a slice stays in it as long as it lives:
 * endpoints are changed in place, new ones fill what is being written anyway, then what has room, and only
 * then a slice of their own. A service nobody stands behind keeps one empty slice, so that its clients can
 * tell "nobody" from "not known yet".
 */
import { createHash } from 'node:crypto';
import {
  type Draft,
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  isTerminating,
  jsonEquals,
  type Pod,
  type Service,
  type StringMap,
} from '@hutch/kube-meta';
import { type AddressType, desiredEndpoint, desiredPorts } from './endpoints.ts';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
/** Kubernetes' own name for this controller: slices of other managers are theirs. */
export const managedBy = 'endpointslice-controller.k8s.io';
const headlessLabel = 'service.kubernetes.io/headless';

export const maxEndpointsPerSlice = 100;

export interface Observed {
  readonly service: Service;
  /** Those its selector selects. */
  readonly pods: readonly Pod[];
  readonly zoneOf: (nodeName: string) => string | undefined;
  /** Those this controller made for it. */
  readonly slices: readonly EndpointSlice[];
  /** Names of slices, whoever made them. */
  readonly isTaken: (name: string) => boolean;
}

export type Action =
  | { readonly type: 'create'; readonly draft: Draft<EndpointSlice> }
  | { readonly type: 'update'; readonly slice: EndpointSlice }
  | { readonly type: 'delete'; readonly slice: EndpointSlice };

/** Endpoints that answer on the same ports. */
interface Group {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Map<string, Endpoint>;
}

/** A slice as it should be. `was` is what it is made from, if there was one. */
interface Wanted {
  readonly was: EndpointSlice | undefined;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Endpoint[];
}

export function decide(observed: Observed): readonly Action[] {
  const { service, slices } = observed;
  if (isTerminating(service)) return [];
  const types = addressTypesOf(service);
  const unwanted = slices.filter(({ addressType }) => !types.includes(addressType));
  return [
    ...types.flatMap((type) => decideFor(type, observed)),
    ...unwanted.map((slice): Action => ({ type: 'delete', slice })),
  ];
}

/** A service without a selector is somebody else's to fill. */
export function isFilledByUs({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && spec.selector !== undefined && spec.selector !== null;
}

function decideFor(addressType: AddressType, observed: Observed): readonly Action[] {
  const { service } = observed;
  const own = observed.slices.filter((slice) => slice.addressType === addressType);
  const isOurs = ({ metadata }: EndpointSlice) =>
    metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) ?? false;
  const groups = groupsOf(addressType, observed);
  const byPorts = Map.groupBy(own.filter(isOurs), ({ ports }) => portsKey(ports ?? []));

  const wanted = [...groups].flatMap(([key, group]) => distribute(group, byPorts.get(key) ?? []));
  if (wanted.length === 0) wanted.push({ was: byPorts.get(portsKey([]))?.[0], ports: [], endpoints: [] });

  const kept = new Set(wanted.map(({ was }) => was));
  const spare = own.filter((slice) => !kept.has(slice));
  return changes(wanted, spare, { ...observed, addressType, isOurs });
}

function groupsOf(addressType: AddressType, { service, pods, zoneOf }: Observed): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    const zone = zoneOf(pod.spec.nodeName ?? '');
    const endpoint = desiredEndpoint(pod, service, { addressType, zone });
    if (!endpoint) continue;
    const ports = desiredPorts(pod, service);
    const group = groups.get(portsKey(ports)) ?? { ports, endpoints: new Map() };
    groups.set(portsKey(ports), group);
    group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  return groups;
}

/** Slices that are left empty are not among the answer. */
function distribute({ ports, endpoints }: Group, slices: readonly EndpointSlice[]): Wanted[] {
  const missing = new Map(endpoints);
  const staying = slices.map((was): Wanted & { isWritten: boolean } => {
    const before = was.endpoints ?? [];
    const after = before.flatMap((endpoint) => {
      const wanted = missing.get(endpointKey(endpoint));
      missing.delete(endpointKey(endpoint)); // also when it is there twice
      return wanted ?? [];
    });
    return { was, ports, endpoints: after, isWritten: !jsonEquals(before, after) };
  });

  const newcomers = [...missing.values()];
  const fill = ({ endpoints }: Wanted) =>
    endpoints.push(...newcomers.splice(0, maxEndpointsPerSlice - endpoints.length));
  // A slice that is written anyway costs nothing; the fullest first, so that few stay half empty.
  const inUse = staying.filter(({ endpoints }) => endpoints.length > 0);
  const fullestFirst = inUse.toSorted((a, b) => b.endpoints.length - a.endpoints.length);
  fullestFirst.filter(({ isWritten }) => isWritten).forEach(fill);

  const created: Wanted[] = [];
  while (newcomers.length > 0) {
    const hasRoom = ({ endpoints }: Wanted) => endpoints.length + newcomers.length <= maxEndpointsPerSlice;
    const target = fullestFirst.find(hasRoom) ?? { was: undefined, ports, endpoints: [] };
    fill(target);
    if (!target.was) created.push(target);
  }
  return [...inUse, ...created];
}

interface SliceContext {
  readonly addressType: AddressType;
  readonly service: Service;
  readonly isOurs: (slice: EndpointSlice) => boolean;
  readonly isTaken: (name: string) => boolean;
}

/** A slice nobody needs any more takes the place of one that would have to be made. */
function changes(wanted: readonly Wanted[], spare: EndpointSlice[], context: SliceContext): Action[] {
  const { service, isOurs, isTaken, addressType } = context;
  const labels = desiredLabels(service);
  const given = new Set<string>();
  const reusable = spare.filter(isOurs);
  const actions: Action[] = [];
  for (const { was = reusable.pop(), ports, endpoints } of wanted) {
    if (!was) {
      const name = freeName(service, (name) => given.has(name) || isTaken(name));
      given.add(name);
      actions.push({
        type: 'create',
        draft: desiredSlice(service, { name, labels, addressType, ports, endpoints }),
      });
    } else if (!isSame(was, { labels, ports, endpoints })) {
      const metadata = { ...was.metadata, labels };
      actions.push({ type: 'update', slice: { ...was, metadata, ports, endpoints } });
    }
  }
  const gone = spare.filter((slice) => !isOurs(slice) || reusable.includes(slice));
  return [...actions, ...gone.map((slice): Action => ({ type: 'delete', slice }))];
}

function isSame(was: EndpointSlice, wanted: Pick<Wanted, 'ports' | 'endpoints'> & { labels: StringMap }) {
  return (
    jsonEquals(was.endpoints ?? [], wanted.endpoints) &&
    portsKey(was.ports ?? []) === portsKey(wanted.ports) &&
    jsonEquals(was.metadata.labels ?? {}, wanted.labels)
  );
}

interface SliceParts extends Pick<Wanted, 'ports' | 'endpoints'> {
  readonly name: string;
  readonly labels: StringMap;
  readonly addressType: AddressType;
}

function desiredSlice(service: Service, { name, labels, addressType, ...rest }: SliceParts) {
  const { namespace, name: serviceName, uid } = service.metadata;
  const owner = { apiVersion: 'v1', kind: 'Service', name: serviceName, uid };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      generateName: `${serviceName}-`,
      labels,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    addressType,
    ...rest,
  };
}

/**
 * Slices look as if the server had named them, but the name follows from the service and from what is there
 * already: a decision made twice, on a copy that is behind, asks for the same name and is refused.
 */
function freeName({ metadata }: Service, isTaken: (name: string) => boolean): string {
  for (let attempt = 0; ; attempt++) {
    const digest = createHash('sha256').update(`${metadata.uid}/${attempt}`).digest();
    const letters = [...digest.subarray(0, 5)].map((byte) => suffixLetters[byte % suffixLetters.length]);
    const name = `${metadata.name}-${letters.join('')}`;
    if (!isTaken(name)) return name;
  }
}

/** Without vowels and look-alikes, as Kubernetes' own. */
const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';

function desiredLabels({ metadata, spec }: Service): StringMap {
  const reserved = [serviceNameLabel, managedByLabel, headlessLabel];
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !reserved.includes(key));
  const isHeadless = !spec.clusterIP || spec.clusterIP === 'None';
  return {
    ...Object.fromEntries(own),
    ...(isHeadless ? { [headlessLabel]: '' } : {}),
    [serviceNameLabel]: metadata.name,
    [managedByLabel]: managedBy,
  };
}

function addressTypesOf({ spec }: Service): readonly AddressType[] {
  const families = (spec.ipFamilies ?? []).filter((family) => family === 'IPv4' || family === 'IPv6');
  if (families.length > 0) return families;
  return [spec.clusterIP?.includes(':') ? 'IPv6' : 'IPv4'];
}

/** The same ports in another order, or with defaults left out, are the same. */
function portsKey(ports: readonly EndpointPort[]): string {
  const texts = ports.map(({ name = '', port, protocol = 'TCP', appProtocol = '' }) =>
    JSON.stringify([name, port ?? null, protocol, appProtocol]),
  );
  return texts.toSorted().join(',');
}

function endpointKey({ addresses, hostname = '', targetRef }: Endpoint): string {
  return [targetRef?.uid, hostname, ...addresses].join('\n');
}
