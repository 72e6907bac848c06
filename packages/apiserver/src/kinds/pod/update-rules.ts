/** What may change in a pod once it is there. */
import { type Container, jsonEquals, labelKeyProblems, type PodSpec } from '@hutch/kube-meta';
import { omit } from '../../json.ts';
import { forbiddenField, invalidValue, type Problem, required } from '../../problems.ts';
import { eachOf, inRange, invalidBy, unchanged } from '../checks.ts';
import type { ApiObject } from '../kind.ts';
import { podSpec, podStatus, withContainers } from './spec.ts';

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function podUpdateProblems(object: ApiObject, old: ApiObject): Problem[] {
  const [spec, before] = [podSpec(object), podSpec(old)];
  if (jsonEquals(spec, before)) return [];
  for (const field of ['containers', 'initContainers'] as const) {
    if ((spec[field] ?? []).length !== (before[field] ?? []).length) {
      return [forbiddenField(`spec.${field}`, 'pod updates may not add or remove containers')];
    }
  }
  return [
    ...imageProblems(spec.containers, 'spec.containers'),
    ...imageProblems(spec.initContainers, 'spec.initContainers'),
    ...deadlineProblems(spec, before),
    ...tolerationProblems(spec, before),
    ...gateProblems(spec, before),
    ...(jsonEquals(fixedPart(spec, before), fixedPart(before, before))
      ? []
      : [forbiddenField('spec', `pod updates may not change fields other than ${changeable}`)]),
  ];
}

/** Told once more of what is changed: what any image must be. */
function imageProblems(list: readonly Container[] | undefined, path: string): Problem[] {
  return eachOf(list, path, ({ image = '' }, at) => [
    ...(image === '' ? [required(`${at}.image`)] : []),
    ...(image === image.trim()
      ? []
      : [invalidValue(`${at}.image`, image, 'must not have leading or trailing whitespace')]),
  ]);
}

function deadlineProblems(
  { activeDeadlineSeconds: deadline }: PodSpec,
  { activeDeadlineSeconds: before }: PodSpec,
): Problem[] {
  const path = 'spec.activeDeadlineSeconds';
  if (deadline === undefined) {
    if (before === undefined) return [];
    return [invalidValue(path, undefined, 'must not update from a positive integer to nil value')];
  }
  const range = inRange(path, deadline, 0, 2 ** 31 - 1);
  if (range.length > 0 || before === undefined || deadline <= before) return range;
  return [invalidValue(path, deadline, 'must be less than or equal to previous value')];
}

function tolerationProblems({ tolerations = [] }: PodSpec, { tolerations: before = [] }: PodSpec): Problem[] {
  const timeless = (toleration: object) => omit(toleration, 'tolerationSeconds');
  const isKept = before.every((old) => tolerations.some((one) => jsonEquals(timeless(one), timeless(old))));
  if (isKept) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenField('spec.tolerations', detail)];
}

function gateProblems(
  { schedulingGates = [] }: PodSpec,
  { schedulingGates: before = [] }: PodSpec,
): Problem[] {
  const known = new Set(before.map(({ name }) => name));
  return eachOf(schedulingGates, 'spec.schedulingGates', ({ name }, at) =>
    known.has(name)
      ? []
      : [forbiddenField(`${at}.name`, `only deletion is allowed, but found new scheduling gate '${name}'`)],
  );
}

/** What is left of a spec when everything that may change is taken out. */
function fixedPart(spec: PodSpec, before: PodSpec): unknown {
  const { terminationGracePeriodSeconds: grace = 0 } = before;
  const isRescued = grace < 0 && spec.terminationGracePeriodSeconds === 1;
  const isGated = (before.schedulingGates ?? []).length > 0;
  return {
    ...omit(
      withContainers(spec, (container) => omit(container, 'image') as Container),
      'activeDeadlineSeconds',
      'tolerations',
      'schedulingGates',
      ...(isRescued ? ['terminationGracePeriodSeconds'] : []),
      // Until it may be scheduled, where it may run is still open.
      ...(isGated ? ['nodeSelector', 'affinity'] : []),
    ),
    ...(isRescued ? { terminationGracePeriodSeconds: grace } : {}),
  };
}

const systemConditions = new Set(['PodScheduled', 'Ready', 'Initialized']);

export function statusUpdateProblems(object: ApiObject, old: ApiObject): Problem[] {
  const [status, before] = [podStatus(object), podStatus(old)];
  if (jsonEquals(status, before)) return [];
  return [
    ...eachOf(status.conditions, 'status.conditions', ({ type }, at) =>
      systemConditions.has(type) ? [] : invalidBy(`${at}.Type`, type, labelKeyProblems(type)),
    ),
    ...unchanged('status.qosClass', status.qosClass, before.qosClass),
    ...transitionProblems(object, old, 'containerStatuses'),
  ];
}

/** A container that has ended for good does not come back. */
function transitionProblems(object: ApiObject, old: ApiObject, field: 'containerStatuses'): Problem[] {
  const { restartPolicy, containers } = podSpec(old);
  const mayRestart = (name: string, exitCode: number): boolean => {
    const own = containers.find((container) => container.name === name)?.restartPolicy;
    const policy = own ?? restartPolicy;
    return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
  };
  return eachOf(podStatus(old)[field], `status.${field}`, ({ name, state }, at) => {
    const ended = state?.terminated;
    const after = podStatus(object)[field]?.find((status) => status.name === name);
    if (!ended || !after || after.state?.terminated || mayRestart(name, ended.exitCode)) return [];
    return [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')];
  });
}
