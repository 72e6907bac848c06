/** Namespaces hold their objects: one that is told to go stays until a controller has emptied it. */
import { isTerminating } from '@hutch/kube-meta';
import { isObject } from '../json.ts';
import { invalidValue, type Problem } from '../problems.ts';
import { finalizerNameProblems } from './checks.ts';
import type { ApiObject } from './kind.ts';

/** Removed by whoever empties the namespace, through the `finalize` subresource. */
const contentFinalizer = 'kubernetes';

const immortalNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Every namespace can be selected by its name. */
export function labelNamespace(object: ApiObject): ApiObject {
  const { metadata } = object;
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  return { ...object, metadata: { ...metadata, labels } };
}

export function prepareNamespace(object: ApiObject): ApiObject {
  const spec = isObject(object.spec) ? object.spec : {};
  return {
    ...object,
    spec: { ...spec, finalizers: [...new Set([...namespaceFinalizers(object), contentFinalizer])] },
    status: { phase: 'Active' },
  };
}

export function validateNamespace(object: ApiObject): Problem[] {
  const phase = isObject(object.status) ? object.status.phase : undefined;
  const isGoing = isTerminating(object);
  const expected = isGoing ? 'Terminating' : 'Active';
  const detail = `may only be '${expected}' if \`deletionTimestamp\` is ${isGoing ? 'not ' : ''}empty`;
  return [
    ...namespaceFinalizers(object).flatMap((name) => finalizerNameProblems('spec.finalizers', String(name))),
    ...(phase === undefined || phase === expected ? [] : [invalidValue('status.Phase', phase, detail)]),
  ];
}

export function terminateNamespace(object: ApiObject): ApiObject {
  const status = isObject(object.status) ? object.status : {};
  return { ...object, status: { ...status, phase: 'Terminating' } };
}

function namespaceFinalizers(object: ApiObject): readonly unknown[] {
  const { finalizers } = isObject(object.spec) ? object.spec : {};
  return Array.isArray(finalizers) ? finalizers : [];
}

export function isNamespaceHeld(object: ApiObject): boolean {
  return namespaceFinalizers(object).length > 0;
}

/** Finalizers of the spec are the business of the `finalize` subresource alone. */
export function keepNamespaceSpec(object: ApiObject, old: ApiObject): ApiObject {
  return { ...object, spec: old.spec };
}

export function namespaceDeletionRefusal({ metadata }: ApiObject): string | undefined {
  return immortalNamespaces.has(metadata.name) ? 'this namespace may not be deleted' : undefined;
}
