import type { Service } from '@hutch/kube-meta';
import { isObject } from '../../json.ts';
import type { ApiObject } from '../kind.ts';

export type ServiceSpec = Service['spec'];
export type ServicePort = NonNullable<ServiceSpec['ports']>[number];

export function serviceSpec(object: ApiObject): ServiceSpec {
  return (isObject(object.spec) ? object.spec : {}) as ServiceSpec;
}

export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None';
}

export function isNamedElsewhere({ type }: ServiceSpec): boolean {
  return type === 'ExternalName';
}

export function isReachedThroughNodes({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

export function isReachedFromOutside(spec: ServiceSpec): boolean {
  const isExposed = spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0;
  return isReachedThroughNodes(spec) || isExposed;
}

export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}
