/** What may be said of where a pod runs. */
import { dnsLabelProblems, labelValueProblems, type PodSpec } from '@hutch/kube-meta';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  type Problem,
  required,
  unsupportedValue,
} from '../../problems.ts';
import { eachOf, invalidBy, labelNameOf, labelSelectorOf } from '../checks.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];
type Affinity = NonNullable<PodSpec['affinity']>;
type NodeAffinity = NonNullable<Affinity['nodeAffinity']>;
type NodeTerm = NonNullable<
  NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];
type Requirement = NonNullable<NodeTerm['matchExpressions']>[number];
type PodAffinity = NonNullable<Affinity['podAffinity']>;
type PodTerm = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function tolerationsProblems(list: PodSpec['tolerations'], path: string): Problem[] {
  return eachOf(list, path, (toleration: Toleration, at) => {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
    return [
      ...(key === '' ? [] : labelNameOf(`${at}.key`, key)),
      ...(key === '' && operator !== 'Exists'
        ? [
            invalidValue(
              `${at}.operator`,
              operator,
              'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            ),
          ]
        : []),
      ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? [invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
        : []),
      ...operatorProblems(operator, value, at),
      ...(effect === '' || effects.includes(effect)
        ? []
        : [unsupportedValue(`${at}.effect`, effect, effects)]),
    ];
  });
}

function operatorProblems(operator: string, value: string, path: string): Problem[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const details = labelValueProblems(value);
      return details.length === 0 ? [] : [invalidValue(`${path}.operator`, value, details.join(';'))];
    }
    case 'Exists':
      if (value === '') return [];
      return [invalidValue(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [unsupportedValue(`${path}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [unsupportedValue(`${path}.operator`, operator, ['Equal', 'Exists'])];
  }
}

export function affinityProblems(affinity: PodSpec['affinity'], path: string): Problem[] {
  if (!affinity) return [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  return [
    ...(nodeAffinity ? nodeAffinityProblems(nodeAffinity, `${path}.nodeAffinity`) : []),
    ...(podAffinity ? podAffinityProblems(podAffinity, `${path}.podAffinity`) : []),
    ...(podAntiAffinity ? podAffinityProblems(podAntiAffinity, `${path}.podAntiAffinity`) : []),
  ];
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodeAffinityProblems(affinity: NodeAffinity, path: string): Problem[] {
  const { [requiredTerms]: wanted, [preferredTerms]: preferred } = affinity;
  return [
    ...(wanted
      ? nodeSelectorProblems(wanted.nodeSelectorTerms, `${path}.${requiredTerms}.nodeSelectorTerms`)
      : []),
    ...eachOf(preferred, `${path}.${preferredTerms}`, ({ weight, preference }, at) => [
      ...weightProblems(weight, `${at}.weight`),
      ...nodeTermProblems(preference, `${at}.preference`),
    ]),
  ];
}

export function nodeSelectorProblems(terms: readonly NodeTerm[] | null | undefined, path: string): Problem[] {
  if (!terms || terms.length === 0) return [required(path, 'must have at least one node selector term')];
  return eachOf(terms, path, nodeTermProblems);
}

function nodeTermProblems({ matchExpressions, matchFields }: NodeTerm, path: string): Problem[] {
  return [
    ...eachOf(matchExpressions, `${path}.matchExpressions`, requirementProblems),
    ...eachOf(matchFields, `${path}.matchFields`, ({ key, operator, values = [] }, at) => [
      ...(operator === 'In' || operator === 'NotIn'
        ? []
        : [invalidValue(`${at}.operator`, operator, 'not a valid selector operator')]),
      ...(values.length === 1
        ? []
        : [
            required(
              `${at}.values`,
              "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            ),
          ]),
      ...(key === 'metadata.name' ? [] : [invalidValue(`${at}.key`, key, 'not a valid field selector key')]),
    ]),
  ];
}

function requirementProblems({ key, operator, values = [] }: Requirement, path: string): Problem[] {
  return [
    ...valuesProblems(operator, values, path),
    ...labelNameOf(`${path}.key`, key),
    ...eachOf(values, `${path}.values`, (value, at) => invalidBy(at, value, labelValueProblems(value))),
  ];
}

function valuesProblems(operator: string, values: readonly string[], path: string): Problem[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [
        forbiddenField(
          `${path}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      ];
    case 'Gt':
    case 'Lt':
      if (values.length === 1) return [];
      return [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

function weightProblems(weight: number, path: string): Problem[] {
  return weight >= 1 && weight <= 100 ? [] : [invalidValue(path, weight, 'must be in the range 1-100')];
}

function podAffinityProblems(affinity: PodAffinity, path: string): Problem[] {
  const { [requiredTerms]: wanted, [preferredTerms]: preferred } = affinity;
  return [
    ...eachOf(wanted, `${path}.${requiredTerms}`, podTermProblems),
    ...eachOf(preferred, `${path}.${preferredTerms}`, ({ weight, podAffinityTerm }, at) => [
      ...weightProblems(weight, `${at}.weight`),
      ...podTermProblems(podAffinityTerm, `${at}.podAffinityTerm`),
    ]),
  ];
}

function podTermProblems(
  { labelSelector, namespaceSelector, namespaces = [], topologyKey }: PodTerm,
  path: string,
): Problem[] {
  return [
    ...labelSelectorOf(`${path}.labelSelector`, labelSelector),
    ...labelSelectorOf(`${path}.namespaceSelector`, namespaceSelector),
    ...namespaces.flatMap((name) => invalidBy(`${path}.namespace`, name, dnsLabelProblems(name))),
    ...(topologyKey === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...labelNameOf(`${path}.topologyKey`, topologyKey),
  ];
}

const whenUnsatisfiable = ['DoNotSchedule', 'ScheduleAnyway'];

export function spreadProblems(list: PodSpec['topologySpreadConstraints'], path: string): Problem[] {
  return eachOf(list, path, (constraint, at, index) => {
    const { maxSkew, topologyKey, whenUnsatisfiable: action, labelSelector } = constraint;
    const isRepeated = (list ?? [])
      .slice(index + 1)
      .some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === action);
    return [
      ...(maxSkew > 0 ? [] : [invalidValue(`${at}.maxSkew`, maxSkew, 'must be greater than zero')]),
      ...(topologyKey === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : []),
      ...(whenUnsatisfiable.includes(action)
        ? []
        : [unsupportedValue(`${at}.whenUnsatisfiable`, action, whenUnsatisfiable)]),
      ...(isRepeated
        ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${action}}`)]
        : []),
      ...labelSelectorOf(`${at}.labelSelector`, labelSelector),
    ];
  });
}

export function gatesProblems(list: PodSpec['schedulingGates'], path: string): Problem[] {
  const seen = new Set<string>();
  return eachOf(list, path, ({ name }, at) => {
    const problems = [...labelNameOf(at, name), ...(seen.has(name) ? [duplicate(at, name)] : [])];
    seen.add(name);
    return problems;
  });
}
