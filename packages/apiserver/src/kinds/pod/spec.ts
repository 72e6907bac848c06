import type { Container, PodSpec, PodStatus } from '@hutch/kube-meta';
import { isObject } from '../../json.ts';
import type { ApiObject } from '../kind.ts';

export function podSpec(object: ApiObject): PodSpec {
  return (isObject(object.spec) ? object.spec : { containers: [] }) as unknown as PodSpec;
}

export function podStatus(object: ApiObject): Partial<PodStatus> {
  return isObject(object.status) ? (object.status as Partial<PodStatus>) : {};
}

/** All that run in the pod's life, in the order they start. */
export function allContainers(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
}

/** The same change to every container of a pod. */
export function withContainers(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  return {
    ...spec,
    ...(spec.containers ? { containers: spec.containers.map(change) } : {}),
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(change) } : {}),
  };
}
