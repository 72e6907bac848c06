/** `pods/binding`: gives a pod to a node. Done once; the scheduler's only write. */
import { conflict, isTerminating } from '@hutch/kube-meta';
import type { AskedObject } from '../decode.ts';
import { isObject } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { podSpec } from '../kinds/pod/spec.ts';
import { timestamp } from '../metadata.ts';
import { required, unsupportedValue } from '../problems.ts';
import { unexplained } from '../refusals.ts';
import type { Change } from './change.ts';

/** Bindings have a collection of their own too, which names the pod in the body. Nothing is ever stored in it. */
export const bindingKind: Kind = {
  resource: { group: '', version: 'v1', plural: 'bindings', kind: 'Binding', namespaced: true },
  singular: 'binding',
  listKind: 'BindingList',
  shortNames: [],
  categories: [],
  verbs: ['create'],
  subresources: [],
  storedVersion: 'v1',
  selectableFields: [],
  nameProblems: () => [],
  hasGeneration: false,
  allowsUnconditionalUpdate: false,
  statusWritesMetadata: false,
  returnsDeleted: false,
  normalise: (object) => object,
  validate: () => [],
};

/** What a binding is for. Refused in Kubernetes' plain words: without a reason, and as if it were our fault. */
export function bindingTarget({ target }: { target?: unknown }): string {
  const { kind = '', name = '' } = isObject(target) ? target : {};
  const problems = [
    ...(kind === '' || kind === 'Node' ? [] : [unsupportedValue('target.kind', kind, ['Node', '<empty>'])]),
    ...(typeof name === 'string' && name !== '' ? [] : [required('target.name')]),
  ];
  if (problems.length === 0) return name as string;
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  throw unexplained(500, texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`);
}

export function bindPod(
  old: ApiObject,
  kind: Kind,
  { asked, now }: { asked: AskedObject; now: Date },
): Change {
  const node = bindingTarget(asked as { target?: unknown });
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
  if ((podSpec(old).schedulingGates ?? []).length > 0) {
    throw conflict(binding, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }

  const status = isObject(old.status) ? old.status : {};
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
  };
  const others = conditions.filter((condition) => !isObject(condition) || condition.type !== 'PodScheduled');
  const annotations = { ...old.metadata.annotations, ...asked.metadata.annotations };
  const labels = { ...old.metadata.labels, ...asked.metadata.labels };
  const object: ApiObject = {
    ...old,
    metadata: {
      ...old.metadata,
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: { ...podSpec(old), nodeName: node },
    status: { ...status, conditions: [...others, scheduled] },
  };
  return { type: 'put', object };
}
