/** `pods/binding`: gives a pod to a node. Done once; the scheduler's only write. */
import { conflict, isTerminating, statusFault } from '@hutch/kube-meta';
import type { AskedObject } from '../decode.ts';
import { isObject } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { podSpec } from '../kinds/pod.ts';
import { timestamp } from '../metadata.ts';
import type { Change } from './change.ts';

export function bindPod(
  old: ApiObject,
  kind: Kind,
  { asked, now }: { asked: AskedObject; now: Date },
): Change {
  const { target } = asked as { target?: unknown };
  const node = isObject(target) && typeof target.name === 'string' ? target.name : '';
  if (node === '') throw statusFault('badRequest', 'binding names no target node');
  const { name, uid } = old.metadata;
  const binding = { ...kind.resource, plural: 'pods/binding' };
  if (asked.metadata.uid !== undefined && asked.metadata.uid !== uid) {
    throw conflict(
      binding,
      name,
      `Precondition failed: UID in precondition: ${asked.metadata.uid}, UID in object meta: ${uid}`,
    );
  }
  if (isTerminating(old))
    throw conflict(binding, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  const { nodeName } = podSpec(old);
  if (nodeName) throw conflict(binding, name, `pod ${name} is already assigned to node "${nodeName}"`);

  const status = isObject(old.status) ? old.status : {};
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
  };
  const others = conditions.filter((condition) => !isObject(condition) || condition.type !== 'PodScheduled');
  const object: ApiObject = {
    ...old,
    spec: { ...podSpec(old), nodeName: node },
    status: { ...status, conditions: [...others, scheduled] },
  };
  return { type: 'put', object };
}
