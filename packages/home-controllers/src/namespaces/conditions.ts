/** What people see of a namespace that is taking its time to go. No await, no clock, no client. */
import { jsonEquals, type KubeObject, type Resource } from '@hutch/kube-meta';

export interface NamespaceCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface Left {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Undefined when `before` already says so. */
export function desiredConditions(
  before: readonly NamespaceCondition[],
  left: readonly Left[],
  now: Date,
): readonly NamespaceCondition[] | undefined {
  const nowText = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const wanted = [...fine, contentCondition(left), finalizerCondition(left)].map((condition) => {
    const same = before.find(({ type }) => type === condition.type);
    const { lastTransitionTime = nowText } = same?.status === condition.status ? same : {};
    return { ...condition, lastTransitionTime };
  });
  const others = before.filter(({ type }) => !wanted.some((condition) => condition.type === type));
  const after = [...others, ...wanted];
  return jsonEquals(before, after) ? undefined : after;
}

/** Our copies leave nothing to discover or to parse, and a delete that fails is tried again. */
const fine: readonly NamespaceCondition[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    status: 'False',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    status: 'False',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    status: 'False',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
];

function contentCondition(left: readonly Left[]): NamespaceCondition {
  const type = 'NamespaceContentRemaining';
  const counts = counted(left.map(({ resource: { plural, group } }) => `${plural}.${group}`));
  if (counts.length === 0) {
    return { type, status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' };
  }
  const parts = counts.map(([name, count]) => `${name} has ${count} resource instances`);
  const message = `Some resources are remaining: ${parts.join(', ')}`;
  return { type, status: 'True', reason: 'SomeResourcesRemain', message };
}

function finalizerCondition(left: readonly Left[]): NamespaceCondition {
  const type = 'NamespaceFinalizersRemaining';
  const counts = counted(left.flatMap(({ object }) => object.metadata.finalizers ?? []));
  if (counts.length === 0) {
    const message = 'All content-preserving finalizers finished';
    return { type, status: 'False', reason: 'ContentHasNoFinalizers', message };
  }
  const parts = counts.map(([name, count]) => `${name} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${parts.join(', ')}`;
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message };
}

function counted(names: readonly string[]): readonly (readonly [string, number])[] {
  const groups = Map.groupBy(names, (name) => name);
  return [...groups]
    .map(([name, all]) => [name, all.length] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
