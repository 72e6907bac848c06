/**
 * What a new pod gets from the server, in view of what else there is: its service account and the token that goes
 * with it, its priority, the overhead of its runtime, and its patience with a node that fails.
 */
import {
  type Container,
  jsonEquals,
  type PodSpec,
  pods,
  priorityClasses,
  runtimeClasses,
  serviceAccounts,
  statusFault,
  type Volume,
} from '@hutch/kube-meta';
import { isObject } from '../../json.ts';
import { generatedName, timestamp } from '../../metadata.ts';
import type { ApiObject, Around } from '../kind.ts';
import { namedAccount } from './defaults.ts';
import { qosClassOf } from './qos.ts';
import { allContainers, podSpec, withContainers } from './spec.ts';

type Step = (spec: PodSpec, pod: ApiObject, around: Around) => PodSpec;

const steps: readonly Step[] = [withPriority, withPatience, withServiceAccount, withRuntimeClass];

export function preparePod(object: ApiObject, around: Around): ApiObject {
  const spec = steps.reduce((current, step) => step(current, object, around), podSpec(object));
  const gated = (spec.schedulingGates ?? []).length > 0;
  return {
    ...object,
    spec,
    status: {
      phase: 'Pending',
      ...(gated ? { conditions: [gatedCondition(around.now)] } : {}),
      qosClass: qosClassOf(spec),
    },
  };
}

function gatedCondition(now: Date): object {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/** Some of what the server gave a pod may be left out when the pod is written again. */
export function keepPodGifts(object: ApiObject, old: ApiObject): ApiObject {
  const before = podSpec(old);
  const spec = podSpec(object);
  const { priority = before.priority, preemptionPolicy = before.preemptionPolicy } = spec;
  const kept: PodSpec = {
    ...spec,
    ...(priority === undefined ? {} : { priority }),
    ...(preemptionPolicy === undefined ? {} : { preemptionPolicy }),
  };
  return { ...object, spec: withPatience(kept) };
}

function forbidden({ metadata }: ApiObject, why: string): Error {
  const details = { name: metadata.name, kind: pods.plural };
  return statusFault('forbidden', `pods "${metadata.name}" is forbidden: ${why}`, details);
}

// ---- priority -------------------------------------------------------------------------------------------

interface PriorityClass extends ApiObject {
  readonly value: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: PodSpec['preemptionPolicy'];
}

/** Classes that are there without having been made. */
const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

function withPriority(spec: PodSpec, pod: ApiObject, around: Around): PodSpec {
  const { name, value, policy } = priorityOf(spec, pod, around);
  if (spec.priority !== undefined && spec.priority !== value) {
    const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
    throw forbidden(pod, why);
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
    throw forbidden(pod, why);
  }
  return {
    ...spec,
    ...(name === undefined ? {} : { priorityClassName: name }),
    priority: value,
    preemptionPolicy: policy,
  };
}

interface Priority {
  readonly name: string | undefined;
  readonly value: number;
  readonly policy: NonNullable<PodSpec['preemptionPolicy']>;
}

function priorityOf({ priorityClassName: name }: PodSpec, pod: ApiObject, around: Around): Priority {
  const policy = 'PreemptLowerPriority';
  if (name === undefined) {
    const classes = around.list(priorityClasses) as readonly PriorityClass[];
    const [chosen] = classes.filter(({ globalDefault }) => globalDefault).sort((a, b) => a.value - b.value);
    if (!chosen) return { name: undefined, value: 0, policy };
    return { name: chosen.metadata.name, value: chosen.value, policy: chosen.preemptionPolicy ?? policy };
  }
  const found = around.get(priorityClasses, { name }) as PriorityClass | undefined;
  const value = found?.value ?? systemPriorities[name];
  if (value === undefined) throw forbidden(pod, `no PriorityClass with name ${name} was found`);
  return { name, value, policy: found?.preemptionPolicy ?? policy };
}

// ---- tolerations ----------------------------------------------------------------------------------------

const patienceSeconds = 300;

function withPatience(spec: PodSpec): PodSpec {
  const given = spec.tolerations ?? [];
  const added = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter(
      (taint) =>
        !given.some(({ key, effect }) => (!key || key === taint) && (!effect || effect === 'NoExecute')),
    )
    .map((key) => ({
      key,
      operator: 'Exists' as const,
      effect: 'NoExecute' as const,
      tolerationSeconds: patienceSeconds,
    }));
  return { ...spec, tolerations: [...given, ...added] };
}

// ---- service account ------------------------------------------------------------------------------------

interface ServiceAccount extends ApiObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: PodSpec['imagePullSecrets'];
}

const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const tokenVolume = 'kube-api-access-';

function withServiceAccount(spec: PodSpec, pod: ApiObject, around: Around): PodSpec {
  const name = spec.serviceAccountName ?? 'default';
  const { namespace = '' } = pod.metadata;
  const account = around.get(serviceAccounts, { namespace, name }) as ServiceAccount | undefined;
  if (!account) {
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbidden(pod, why);
  }
  const named: PodSpec = { ...spec, ...namedAccount(name) };
  const secrets = account.imagePullSecrets ?? [];
  const pulling: PodSpec =
    (named.imagePullSecrets ?? []).length === 0 && secrets.length > 0
      ? {
          ...named,
          imagePullSecrets: secrets.map(({ name: secret }) => ({ name: secret })) as typeof secrets,
        }
      : named;
  const mounts = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  return mounts ? withToken(pulling) : pulling;
}

/** Every container that has nothing else at that path gets the token, the CA and the namespace there. */
function withToken(spec: PodSpec): PodSpec {
  const existing = (spec.volumes ?? []).find(({ name }) => name.startsWith(tokenVolume))?.name;
  const name = existing ?? generatedName(tokenVolume);
  const isMissing = ({ volumeMounts = [] }: Container) =>
    !volumeMounts.some(({ mountPath }) => mountPath === tokenPath);
  const needy = allContainers(spec).some(isMissing);
  if (!needy) return spec;
  const mounted = withContainers(spec, (container) => {
    if (!isMissing(container)) return container;
    const mount = { name, readOnly: true, mountPath: tokenPath };
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] };
  });
  if (existing !== undefined) return mounted;
  return { ...mounted, volumes: [...(spec.volumes ?? []), desiredTokenVolume(name)] };
}

function desiredTokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

// ---- runtime class --------------------------------------------------------------------------------------

interface RuntimeClass extends ApiObject {
  readonly overhead?: { readonly podFixed?: NonNullable<PodSpec['overhead']> };
  readonly scheduling?: { readonly nodeSelector?: object; readonly tolerations?: PodSpec['tolerations'] };
}

function withRuntimeClass(spec: PodSpec, pod: ApiObject, around: Around): PodSpec {
  const { runtimeClassName: name } = spec;
  const found = name === undefined ? undefined : around.get(runtimeClasses, { name });
  if (name !== undefined && !found) throw forbidden(pod, `pod rejected: RuntimeClass "${name}" not found`);
  const { overhead, scheduling = {} } = (found ?? {}) as Partial<RuntimeClass>;
  const fixed = overhead?.podFixed;
  if (spec.overhead && !fixed) {
    throw forbidden(
      pod,
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
  }
  if (spec.overhead && !jsonEquals(spec.overhead, fixed)) {
    throw forbidden(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  const tolerations = [...(spec.tolerations ?? []), ...(scheduling.tolerations ?? [])];
  return {
    ...spec,
    ...(fixed ? { overhead: fixed } : {}),
    ...(isObject(scheduling.nodeSelector)
      ? { nodeSelector: mergedSelector(spec, scheduling.nodeSelector, pod) }
      : {}),
    ...(scheduling.tolerations ? { tolerations } : {}),
  };
}

function mergedSelector(
  { nodeSelector = {} }: PodSpec,
  wanted: Readonly<Record<string, unknown>>,
  pod: ApiObject,
): NonNullable<PodSpec['nodeSelector']> {
  const given = nodeSelector as Readonly<Record<string, string>>;
  for (const [key, value] of Object.entries(wanted)) {
    if (given[key] === undefined || given[key] === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(value)}; pod.spec.nodeSelector[${key}] = ${given[key]}`;
    throw forbidden(pod, why);
  }
  return { ...given, ...wanted } as NonNullable<PodSpec['nodeSelector']>;
}
