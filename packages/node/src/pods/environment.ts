/** What the first process of a container is told: its arguments and its environment. Pure. */
import { Fault } from '@hutch/base';
import type { Container, Pod } from '@hutch/kube-meta';
import { hostnameOf } from '../containers/spec.ts';
import type { Image } from '../images/image.ts';

export interface Addresses {
  readonly podIp: string;
  readonly hostIp: string;
}

/**
 * Replaces `$(NAME)` by the variable's value; `$$` is a plain dollar, so `$$(NAME)` stays text. A name that is not known
 * is left as it was written.
 */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(?:\$|\(([^()]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (variables.get(name) ?? whole),
  );
}

/** Later entries win and may refer to earlier ones. */
export function desiredEnvironment(
  pod: Pod,
  container: Container,
  image: Image,
  addresses: Addresses,
): Map<string, string> {
  const variables = new Map(Object.entries(image.env));
  variables.set('HOSTNAME', hostnameOf(pod));
  for (const { name, value, valueFrom } of container.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath;
    if (path === undefined) variables.set(name, expand(value ?? '', variables));
    else variables.set(name, podField(path, pod, addresses) ?? '');
  }
  return variables;
}

/** The container's own command replaces the image's entry point and, with it, the image's arguments. */
export function desiredArgs(
  container: Container,
  image: Image,
  variables: ReadonlyMap<string, string>,
): string[] {
  const own = container.command ?? [];
  const start = own.length > 0 ? own : image.entrypoint;
  const rest = (container.args?.length ?? 0) > 0 || own.length > 0 ? (container.args ?? []) : image.command;
  const args = [...start, ...rest].map((part) => expand(part, variables));
  if (args.length === 0) {
    throw new Fault(
      'invalid',
      `container ${container.name}: neither it nor image ${image.reference} names a command`,
    );
  }
  return args;
}

const plainFields: Readonly<Record<string, (pod: Pod, addresses: Addresses) => string | undefined>> = {
  'metadata.name': (pod) => pod.metadata.name,
  'metadata.namespace': (pod) => pod.metadata.namespace,
  'metadata.uid': (pod) => pod.metadata.uid,
  'spec.nodeName': (pod) => pod.spec.nodeName,
  'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName,
  'status.hostIP': (_, { hostIp }) => hostIp,
  'status.hostIPs': (_, { hostIp }) => hostIp,
  'status.podIP': (_, { podIp }) => podIp,
  'status.podIPs': (_, { podIp }) => podIp,
};

const mapField = /^metadata\.(labels|annotations)\['([^']+)'\]$/;

export function isKnownField(path: string): boolean {
  return Object.hasOwn(plainFields, path) || mapField.test(path);
}

function podField(path: string, pod: Pod, addresses: Addresses): string | undefined {
  if (Object.hasOwn(plainFields, path)) return plainFields[path]?.(pod, addresses);
  const [, map, key] = mapField.exec(path) ?? [];
  return pod.metadata[map as 'labels' | 'annotations']?.[key ?? ''];
}
