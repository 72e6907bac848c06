/** Whether a pod may run on a node. No await, no clock, no client. */
import type { Node, Pod } from '@hutch/kube-meta';
import { matchesNode, type NodeMeta, type NodeSelector } from '../node-selector.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];
type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

/** Where a pod is to go, as far as it is known: a node need not have told of itself yet. */
export interface Place {
  readonly metadata: NodeMeta;
  readonly spec?: Node['spec'];
}

/** Why not, in the words of Kubernetes' scheduler; the first reason found, as there. */
export function misfitOf(pod: Pod, { metadata, spec }: Place): string | undefined {
  if (spec?.unschedulable && !tolerates(pod, cordoned)) return 'node(s) were unschedulable';
  if ((spec?.taints ?? []).some((taint) => keepsAway(taint) && !tolerates(pod, taint))) {
    return 'node(s) had untolerated taint(s)';
  }
  return isAskedFor(pod, metadata) ? undefined : "node(s) didn't match Pod's node affinity/selector";
}

/** What a cordoned node counts as having, whether or not somebody has put it there yet. */
const cordoned: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const keepsAway = ({ effect }: Taint) => effect === 'NoSchedule' || effect === 'NoExecute';

function tolerates({ spec }: Pod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some((toleration) => matchesTaint(toleration, taint));
}

/** Without a key every taint is meant, without an effect every effect. */
function matchesTaint({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || (Boolean(key) && value === (taint.value ?? ''));
}

function isAskedFor({ spec }: Pod, node: NodeMeta): boolean {
  const labels = node.labels ?? {};
  const wanted = Object.entries(spec.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || matchesNode(required as NodeSelector, node);
}
