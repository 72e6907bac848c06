import { omit } from '../../json.ts';
import type { ApiObject } from '../kind.ts';
import { isReachedFromOutside, type ServiceSpec, serviceSpec } from './spec.ts';

const affinitySeconds = 10_800;

export function defaultService(object: ApiObject): ApiObject {
  const given = serviceSpec(object);
  const type = given.type ?? 'ClusterIP';
  const spec = { ...given, type };
  const defaulted: ServiceSpec = {
    ...withAffinity(spec),
    ...(spec.ports
      ? { ports: spec.ports.map((port) => ({ ...port, targetPort: port.targetPort || port.port })) }
      : {}),
    ...(isReachedFromOutside(spec) ? { externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster' } : {}),
    ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster' }),
    ...(type === 'LoadBalancer'
      ? { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }
      : {}),
  };
  return { ...object, spec: defaulted };
}

function withAffinity(spec: ServiceSpec): ServiceSpec {
  const sessionAffinity = spec.sessionAffinity ?? 'None';
  if (sessionAffinity !== 'ClientIP') {
    const rest = sessionAffinity === 'None' ? (omit(spec, 'sessionAffinityConfig') as ServiceSpec) : spec;
    return { ...rest, sessionAffinity };
  }
  const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySeconds;
  return { ...spec, sessionAffinity, sessionAffinityConfig: { clientIP: { timeoutSeconds } } };
}
