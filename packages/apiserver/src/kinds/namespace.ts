/** Namespaces hold their objects: one that is told to go stays until a controller has emptied it. */
import { isObject } from '../json.ts';
import type { ApiObject } from './kind.ts';

/** Removed by whoever empties the namespace, through the `finalize` subresource. */
const contentFinalizer = 'kubernetes';

const immortalNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

export function prepareNamespace(object: ApiObject): ApiObject {
  const spec = isObject(object.spec) ? object.spec : {};
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name } },
    spec: { ...spec, finalizers: [contentFinalizer] },
    status: { phase: 'Active' },
  };
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
