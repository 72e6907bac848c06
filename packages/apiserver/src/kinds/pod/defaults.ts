/** Defaults of a pod that depend on more than one of its members; those of a single type are in `type-defaults.ts`. */
import { type Container, canonicalQuantity, type PodSpec, quantityNanos } from '@hutch/kube-meta';
import { isObject } from '../../json.ts';
import type { ApiObject } from '../kind.ts';
import { podSpec, withContainers } from './spec.ts';

export const defaultGraceSeconds = 30;

export function defaultPod(object: ApiObject): ApiObject {
  const spec = podSpec(object);
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  const defaulted: PodSpec = {
    ...withContainers(spec, (container) => withRequests(withHostPorts(container, spec))),
    terminationGracePeriodSeconds: graceOf(spec),
    ...(spec.resources ? { resources: wholeResources(spec) } : {}),
    enableServiceLinks: spec.enableServiceLinks ?? true,
    ...namedAccount(account),
  };
  return { ...object, spec: defaulted, status: listedAddresses(object.status) };
}

/** An address that stands alone is also the first of a list, and the other way round. */
function listedAddresses(status: unknown): unknown {
  if (!isObject(status)) return status;
  const listed = { ...status };
  for (const [one, list] of [
    ['podIP', 'podIPs'],
    ['hostIP', 'hostIPs'],
  ] as const) {
    const [first] = Array.isArray(status[list]) ? (status[list] as unknown[]) : [];
    if (isObject(first)) listed[one] = first.ip;
    else if (status[one]) listed[list] = [{ ip: status[one] }];
  }
  return listed;
}

/** A negative one is the shortest there is. */
function graceOf({ terminationGracePeriodSeconds: grace = defaultGraceSeconds }: PodSpec): number {
  return grace < 0 ? 1 : grace;
}

/** What the pod as a whole asks for: what its containers do, else what it is limited to. */
function wholeResources(spec: PodSpec): NonNullable<PodSpec['resources']> {
  const { limits = {}, requests = {}, ...rest } = spec.resources ?? {};
  if (Object.keys(limits).length === 0) return spec.resources ?? {};
  const summed = Object.fromEntries(
    ['cpu', 'memory'].flatMap((name) => {
      const amounts = spec.containers.flatMap(({ resources }) => {
        const asked = resources?.requests as Readonly<Record<string, string>> | undefined;
        return (
          asked?.[name] ?? (resources?.limits as Readonly<Record<string, string>> | undefined)?.[name] ?? []
        );
      });
      const nanos = amounts.reduce((sum, amount) => sum + quantityNanos(amount), 0n);
      return amounts.length === 0
        ? []
        : [[name, canonicalQuantity(amounts.length === 1 ? String(amounts[0]) : `${nanos}n`)]];
    }),
  ) as object;
  return { ...rest, limits, requests: { ...limits, ...summed, ...requests } };
}

/** The old name of the member is still written, and still read where the new one is absent. */
export function namedAccount(name: string | undefined): Partial<PodSpec> {
  return name === undefined ? {} : { serviceAccountName: name, serviceAccount: name };
}

/** What a container is limited to is what it asks for, unless it says otherwise. */
function withRequests(container: Container): Container {
  const { limits, requests } = container.resources ?? {};
  if (!limits || Object.keys(limits).length === 0) return container;
  return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

/** On the host's network a port of the container is a port of the host. */
function withHostPorts(container: Container, { hostNetwork }: PodSpec): Container {
  if (!hostNetwork || !container.ports) return container;
  const ports = container.ports.map((port) => ({ ...port, hostPort: port.hostPort || port.containerPort }));
  return { ...container, ports };
}
