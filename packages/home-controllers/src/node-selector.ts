/** Whether a node is one that a pod or a volume asks for. */
import { type LabelRequirement, matchesLabels, type Node, type StringMap } from '@hutch/kube-meta';

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Any one of the terms must hold, with all it says; a term that says nothing never holds. */
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly {
    readonly matchExpressions?: readonly Expression[];
    readonly matchFields?: readonly Expression[];
  }[];
}

export type NodeMeta = Pick<Node['metadata'], 'name' | 'labels'>;

export function matchesNode({ nodeSelectorTerms }: NodeSelector, { name, labels }: NodeMeta): boolean {
  return nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    return holdAll(matchExpressions, labels) && holdAll(matchFields, { 'metadata.name': name });
  });
}

const operators: Readonly<Record<string, LabelRequirement['operator']>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: 'absent',
  Gt: 'gt',
  Lt: 'lt',
};

function holdAll(expressions: readonly Expression[], labels: StringMap | undefined): boolean {
  return expressions.every(({ key, operator, values = [] }) => {
    const known = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    return known !== undefined && matchesLabels([{ key, operator: known, values }], labels);
  });
}
