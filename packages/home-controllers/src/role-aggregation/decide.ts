/** The rules of a role that is put together from others. No await, no clock, no client. */
import {
  type ClusterRole,
  jsonEquals,
  labelSelectorOf,
  matchesLabels,
  type PolicyRule,
} from '@hutch/kube-meta';

/** Undefined when the role is as it should be, or is not put together from others at all. */
export function decide(role: ClusterRole, all: readonly ClusterRole[]): readonly PolicyRule[] | undefined {
  if (!role.aggregationRule) return undefined;
  const byName = all.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const others = byName.filter(({ metadata }) => metadata.name !== role.metadata.name);
  const rules: PolicyRule[] = [];
  for (const selectorObject of role.aggregationRule.clusterRoleSelectors ?? []) {
    const selector = labelSelectorOf(selectorObject);
    const selected = others.filter(({ metadata }) => selector && matchesLabels(selector, metadata.labels));
    for (const rule of selected.flatMap(({ rules }) => rules ?? [])) {
      if (!rules.some((known) => jsonEquals(known, rule))) rules.push(rule);
    }
  }
  return jsonEquals(role.rules ?? [], rules) ? undefined : rules;
}
