/** Roles and who has them. */
import { dnsSubdomainProblems, jsonEquals, type PolicyRule, pathSegmentProblems } from '@hutch/kube-meta';
import { invalidValue, type Problem, required, unsupportedValue } from '../problems.ts';
import { eachOf, invalidBy, labelSelectorOf } from './checks.ts';
import type { ApiObject } from './kind.ts';

const group = 'rbac.authorization.k8s.io';

interface Role extends ApiObject {
  readonly rules?: readonly PolicyRule[] | null;
  readonly aggregationRule?: {
    readonly clusterRoleSelectors?: readonly { readonly matchLabels?: Readonly<Record<string, string>> }[];
  };
}

interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Binding extends ApiObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly Subject[];
}

export function validateRole(object: ApiObject): Problem[] {
  return eachOf((object as Role).rules, 'rules', (rule, at) => ruleProblems(rule, at, true));
}

export function validateClusterRole(object: ApiObject): Problem[] {
  const { rules, aggregationRule } = object as Role;
  const selectors = aggregationRule?.clusterRoleSelectors ?? [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const none = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  return [
    ...eachOf(rules, 'rules', (rule, at) => ruleProblems(rule, at, false)),
    ...(aggregationRule && selectors.length === 0 ? [required(path, none)] : []),
    ...eachOf(selectors, path, (selector, at) => labelSelectorOf(at, selector)),
  ];
}

function ruleProblems(rule: PolicyRule, path: string, isNamespaced: boolean): Problem[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = rule.verbs ?? [];
  const verbless =
    verbs.length === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : [];
  if (nonResourceURLs.length > 0) {
    const at = `${path}.nonResourceURLs`;
    const isBoth = apiGroups.length + resources.length + resourceNames.length > 0;
    return [
      ...verbless,
      ...(isNamespaced
        ? [invalidValue(at, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs')]
        : []),
      ...(isBoth
        ? [
            invalidValue(
              at,
              nonResourceURLs,
              'rules cannot apply to both regular resources and non-resource URLs',
            ),
          ]
        : []),
    ];
  }
  return [
    ...verbless,
    ...(apiGroups.length === 0
      ? [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')]
      : []),
    ...(resources.length === 0
      ? [required(`${path}.resources`, 'resource rules must supply at least one resource')]
      : []),
  ];
}

export function validateRoleBinding(object: ApiObject, old: ApiObject | undefined): Problem[] {
  return bindingProblems(object as Binding, old as Binding | undefined, ['Role', 'ClusterRole']);
}

export function validateClusterRoleBinding(object: ApiObject, old: ApiObject | undefined): Problem[] {
  return bindingProblems(object as Binding, old as Binding | undefined, ['ClusterRole']);
}

function bindingProblems(
  { roleRef, subjects }: Binding,
  old: Binding | undefined,
  kinds: readonly string[],
): Problem[] {
  const isNamespaced = kinds.includes('Role');
  return [
    ...(roleRef.apiGroup === group ? [] : [unsupportedValue('roleRef.apiGroup', roleRef.apiGroup, [group])]),
    ...(kinds.includes(roleRef.kind) ? [] : [unsupportedValue('roleRef.kind', roleRef.kind, kinds)]),
    ...(roleRef.name === ''
      ? [required('roleRef.name')]
      : invalidBy('roleRef.name', roleRef.name, pathSegmentProblems(roleRef.name))),
    ...eachOf(subjects, 'subjects', (subject, at) => subjectProblems(subject, at, isNamespaced)),
    ...(old && !jsonEquals(old.roleRef, roleRef)
      ? [invalidValue('roleRef', shownReference(roleRef), 'cannot change roleRef')]
      : []),
  ];
}

function shownReference({ apiGroup, kind, name }: Binding['roleRef']): object {
  return { APIGroup: apiGroup, Kind: kind, Name: name };
}

function subjectProblems(subject: Subject, path: string, isNamespaced: boolean): Problem[] {
  const { kind, apiGroup = '', name, namespace = '' } = subject;
  const nameless = name === '' ? [required(`${path}.name`)] : [];
  switch (kind) {
    case 'ServiceAccount':
      return [
        ...nameless,
        ...(name === '' ? [] : invalidBy(`${path}.name`, name, dnsSubdomainProblems(name))),
        ...(apiGroup === '' ? [] : [unsupportedValue(`${path}.apiGroup`, apiGroup, [''])]),
        ...(!isNamespaced && namespace === '' ? [required(`${path}.namespace`)] : []),
      ];
    case 'User':
    case 'Group':
      return [
        ...nameless,
        ...(apiGroup === group ? [] : [unsupportedValue(`${path}.apiGroup`, apiGroup, [group])]),
      ];
    default:
      return [...nameless, unsupportedValue(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  }
}
