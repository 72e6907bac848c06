/** The `scale` subresource: one number of an object, in a form that is the same for every kind. */
import { Fault } from '@hutch/base';
import { type KubeObject, mergePatch, statusFault } from '@hutch/kube-meta';
import type { AskedObject, Decodable } from '../decode.ts';
import type { ApiObject, Kind, ScalePaths } from '../kinds/kind.ts';
import { at } from '../output/values.ts';
import { invalidValue, type Problem } from '../problems.ts';

export interface Scale extends KubeObject {
  /** Undefined where the object has none yet. */
  readonly spec: { readonly replicas?: number | undefined };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

export const scaleKind: Decodable = {
  resource: { group: 'autoscaling', version: 'v1', plural: 'scales', kind: 'Scale', namespaced: true },
  decode(body) {
    const replicas = at(body, 'spec.replicas');
    if (replicas === undefined || replicas === null || Number.isInteger(replicas)) return body;
    const why = `json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`;
    throw statusFault('badRequest', `Scale in version "v1" cannot be handled as a Scale: ${why}`);
  },
};

const maxReplicas = 2 ** 31 - 1;

const pathOf = (path: string) => path.replace(/^\./, '');

export function scaleOf(
  object: ApiObject,
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = labelSelectorPath === undefined ? undefined : at(object, pathOf(labelSelectorPath));
  const wanted = at(object, pathOf(specReplicasPath));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: { replicas: wanted === undefined ? undefined : count(wanted, specReplicasPath) },
    status: {
      replicas: count(at(object, pathOf(statusReplicasPath)) ?? 0, statusReplicasPath),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  };
}

/** A Scale as it is answered: nothing wanted is not mentioned. A read of what has no number at all is told so. */
export function shownScale(object: ApiObject, paths: ScalePaths, isRead: boolean): Scale {
  const scale = scaleOf(object, paths);
  const { replicas } = scale.spec;
  if (isRead && replicas === undefined) {
    const why = `the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`;
    throw new Fault('internal', why);
  }
  return { ...scale, spec: replicas ? { replicas } : {} };
}

/** What an object has where its kind says its numbers are must be one. */
export function scaleProblems(object: ApiObject, { scale }: Pick<Kind, 'scale'>): Problem[] {
  if (!scale) return [];
  return [scale.specReplicasPath, scale.statusReplicasPath].flatMap((path) => {
    const value = at(object, pathOf(path));
    if (value === undefined) return [];
    if (!Number.isInteger(value)) return [invalidValue(path, 0, notACount(value, path))];
    if ((value as number) < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
    if ((value as number) <= maxReplicas) return [];
    return [invalidValue(path, value, `should be less than or equal to ${maxReplicas}`)];
  });
}

function notACount(value: unknown, path: string): string {
  const given = typeof value === 'string' ? value : JSON.stringify(value);
  const type = Array.isArray(value)
    ? '[]interface {}'
    : typeof value === 'object'
      ? 'map[string]interface {}'
      : typeof value;
  return `${path} accessor error: ${given} is of the type ${type}, expected int64`;
}

function count(value: unknown, path: string): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new Fault('internal', notACount(value, path));
}

/** The object with the number a Scale asks for, ready to be taken as an ordinary update. */
export function scaledObject(
  old: ApiObject,
  asked: AskedObject,
  { specReplicasPath }: ScalePaths,
): AskedObject {
  const wanted = (at(asked, 'spec.replicas') ?? 0) as number; // its decoder has seen to the type
  const { resourceVersion, uid } = asked.metadata;
  const patch = pathOf(specReplicasPath)
    .split('.')
    .reduceRight<unknown>((inside, part) => ({ [part]: inside }), wanted);
  const scaled = mergePatch(old, patch) as ApiObject;
  return {
    ...scaled,
    metadata: {
      ...old.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(uid === undefined ? {} : { uid }),
    },
  };
}
