/** What is special about pods: defaults, the few checks that keep nonsense from the node, graceful deletion. */
import { type Container, dnsLabelProblems, jsonEquals, type PodSpec, type PodStatus } from '@hutch/kube-meta';
import { isObject, omit } from '../json.ts';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  type Problem,
  required,
  unsupportedValue,
} from '../problems.ts';
import type { ApiObject } from './kind.ts';

const defaultGraceSeconds = 30;

export function podSpec(object: ApiObject): Partial<PodSpec> {
  return isObject(object.spec) ? (object.spec as Partial<PodSpec>) : {};
}

function podStatus(object: ApiObject): Partial<PodStatus> {
  return isObject(object.status) ? (object.status as Partial<PodStatus>) : {};
}

/** Members that are missing; what is there, even if empty, stays. */
function withDefaults<T extends object>(value: T, defaults: Partial<T>): T {
  const missing = Object.entries(defaults).filter(
    ([key]) => (value as Record<string, unknown>)[key] === undefined,
  );
  return missing.length === 0 ? value : { ...value, ...Object.fromEntries(missing) };
}

function mapList<T>(list: readonly T[] | undefined, change: (item: T) => T): T[] | undefined {
  return Array.isArray(list) ? list.map((item: T) => (isObject(item) ? change(item) : item)) : undefined;
}

type Probed = NonNullable<Container['readinessProbe']>;

function defaultProbe(probe: Probed): Probed {
  const defaulted = withDefaults(probe, {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  const { httpGet } = defaulted;
  return httpGet
    ? { ...defaulted, httpGet: withDefaults(httpGet, { path: '/', scheme: 'HTTP' }) }
    : defaulted;
}

function defaultContainer(container: Container): Container {
  const { image = '', readinessProbe, livenessProbe, startupProbe } = container;
  const ports = mapList(container.ports, (port) => withDefaults(port, { protocol: 'TCP' }));
  return {
    ...withDefaults(container, {
      imagePullPolicy: pullPolicyOf(image),
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    }),
    ...(ports ? { ports } : {}),
    ...(isObject(readinessProbe) ? { readinessProbe: defaultProbe(readinessProbe) } : {}),
    ...(isObject(livenessProbe) ? { livenessProbe: defaultProbe(livenessProbe) } : {}),
    ...(isObject(startupProbe) ? { startupProbe: defaultProbe(startupProbe) } : {}),
  };
}

/** An image without a tag, or with `latest`, may be another one tomorrow. */
function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

export function normalisePod(object: ApiObject): ApiObject {
  if (!isObject(object.spec)) return object;
  const spec = podSpec(object);
  const containers = mapList(spec.containers, defaultContainer);
  const initContainers = mapList(spec.initContainers, defaultContainer);
  return {
    ...object,
    spec: {
      ...withDefaults(spec, {
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: defaultGraceSeconds,
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        securityContext: {},
        enableServiceLinks: true,
      }),
      ...(containers ? { containers } : {}),
      ...(initContainers ? { initContainers } : {}),
    },
  };
}

export function preparePod(object: ApiObject): ApiObject {
  return { ...object, status: { phase: 'Pending', qosClass: qosClassOf(podSpec(object)) } };
}

/** Guaranteed: every container limits cpu and memory and asks for as much. BestEffort: none says anything. */
function qosClassOf(spec: Partial<PodSpec>): string {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const resources = containers.map((container) => container.resources ?? {});
  const says = resources.some(({ limits, requests }) => hasMembers(limits) || hasMembers(requests));
  if (!says) return 'BestEffort';
  const isGuaranteed = resources.every(({ limits, requests }) =>
    ['cpu', 'memory'].every((name) => {
      const limit = (limits as Record<string, unknown> | undefined)?.[name];
      const request = (requests as Record<string, unknown> | undefined)?.[name];
      return limit !== undefined && (request === undefined || jsonEquals(request, limit));
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function hasMembers(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

export function validatePod(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const spec = podSpec(object);
  const problems = [
    ...containerProblems(spec.containers, 'spec.containers', true),
    ...containerProblems(spec.initContainers, 'spec.initContainers', false),
  ];
  const policies = ['Always', 'OnFailure', 'Never'];
  if (spec.restartPolicy !== undefined && !policies.includes(spec.restartPolicy)) {
    problems.push(unsupportedValue('spec.restartPolicy', spec.restartPolicy, policies));
  }
  if (old && !jsonEquals(fixedSpec(object), fixedSpec(old))) {
    const detail =
      'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
    problems.push(forbiddenField('spec', detail));
  }
  return problems;
}

function containerProblems(list: unknown, path: string, isRequired: boolean): Problem[] {
  if (list === undefined || (Array.isArray(list) && list.length === 0))
    return isRequired ? [required(path)] : [];
  if (!Array.isArray(list)) return [invalidValue(path, list, 'must be an array')];
  const seen = new Set<string>();
  return list.flatMap((container: unknown, at) => {
    const field = `${path}[${at}]`;
    if (!isObject(container)) return [invalidValue(field, container, 'must be an object')];
    const { name, image } = container;
    const problems: Problem[] = [];
    if (typeof name !== 'string' || name === '') problems.push(required(`${field}.name`));
    else {
      problems.push(...dnsLabelProblems(name).map((detail) => invalidValue(`${field}.name`, name, detail)));
      if (seen.has(name)) problems.push(duplicate(`${field}.name`, name));
      seen.add(name);
    }
    if (typeof image !== 'string' || image === '') problems.push(required(`${field}.image`));
    return problems;
  });
}

/** The part of a pod's spec that can never change. */
function fixedSpec(object: ApiObject): unknown {
  const spec = podSpec(object);
  const withoutImage = (container: Container) => omit(container, 'image');
  return {
    ...omit(spec, 'activeDeadlineSeconds', 'tolerations', 'terminationGracePeriodSeconds'),
    containers: mapList(spec.containers, withoutImage as (container: Container) => Container),
    initContainers: mapList(spec.initContainers, withoutImage as (container: Container) => Container),
  };
}

/** A pod that no node has, or that has ended, has nobody to wait for. */
export function podGraceSeconds(object: ApiObject, asked: number | undefined): number {
  const { nodeName, terminationGracePeriodSeconds } = podSpec(object);
  const { phase } = podStatus(object);
  if (!nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
  return asked ?? terminationGracePeriodSeconds ?? defaultGraceSeconds;
}
