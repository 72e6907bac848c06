/** A pod as the clients of a service see it: an address, its state, and the ports it answers on. */
import { isIPv4, isIPv6 } from 'node:net';
import {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  isTerminating,
  type Pod,
  type Service,
  type ServicePort,
} from '@hutch/kube-meta';
import { isFinished, isReady } from '../pods.ts';

export type AddressType = EndpointSlice['addressType'];

/** Undefined when the pod has no address of this type, or will never answer again. */
export function desiredEndpoint(
  pod: Pod,
  service: Service,
  { addressType, zone }: { addressType: AddressType; zone: string | undefined },
): Endpoint | undefined {
  const addresses = addressesOf(pod).filter(addressType === 'IPv6' ? isIPv6 : isIPv4);
  if (addresses.length === 0 || isFinished(pod)) return undefined;
  const { namespace, name, uid } = pod.metadata;
  const { nodeName, hostname, subdomain } = pod.spec;
  const serving = isReady(pod);
  const terminating = isTerminating(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  return {
    addresses,
    conditions: { ready, serving, terminating },
    targetRef: { kind: 'Pod', ...(namespace === undefined ? {} : { namespace }), name, uid },
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
    // A name of its own under the service, for DNS.
    ...(hostname && subdomain === service.metadata.name ? { hostname } : {}),
  };
}

function addressesOf({ status }: Pod): string[] {
  const all = (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
  return all.length > 0 ? all : [status?.podIP ?? ''];
}

/** A port by name may be another number in every pod; one the pod does not have is left out. */
export function desiredPorts(pod: Pod, { spec }: Service): readonly EndpointPort[] {
  return (spec.ports ?? []).flatMap((servicePort) => {
    const port = targetPort(pod, servicePort);
    if (port === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    return [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function targetPort({ spec }: Pod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort ?? port;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...spec.containers, ...sidecars].flatMap(({ ports }) => ports ?? []);
  return ports.find(({ name, protocol: own = 'TCP' }) => name === targetPort && own === protocol)
    ?.containerPort;
}
