/** What several controllers ask of a pod. */
import { isTerminating, keyText, type Pod } from '@hutch/kube-meta';

/** It will never run again. */
export function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Nobody has said yet where it is to run, and nobody holds it back. */
export function waitsForNode(pod: Pod): boolean {
  if (pod.spec.nodeName || isTerminating(pod) || isFinished(pod)) return false;
  return !pod.spec.schedulingGates?.length;
}

/** The claims it mounts, by name. */
export function claimNamesOf({ spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

export function claimKeysOf(pod: Pod): readonly string[] {
  const { namespace = '' } = pod.metadata;
  return claimNamesOf(pod).map((name) => keyText({ namespace, name }));
}
