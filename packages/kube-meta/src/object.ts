/** What every Kubernetes object has in common. Objects that came from a server are read-only by convention. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Finalizers of Kubernetes' own: what a deletion asks of the garbage collector, and what empties a namespace. */
export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';
export const namespaceFinalizer = 'kubernetes';

export type StringMap = Readonly<Record<string, string>>;

/** Metadata as a server returns it: name, uid, resourceVersion and creationTimestamp are always there. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly unknown[];
  readonly generateName?: string;
}

/** Metadata as a client may send it. */
export type DraftMeta = Partial<ObjectMeta>;

export interface KubeObject extends TypeMeta {
  readonly metadata: ObjectMeta;
}

/** An object on its way to a server, before it has an identity. */
export type Draft<T extends KubeObject> = Omit<T, 'metadata' | 'status'> & {
  readonly metadata: DraftMeta;
  readonly status?: unknown;
};

export interface ObjectList<T extends KubeObject = KubeObject> extends TypeMeta {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Where a kind is served. `namespaced` decides the shape of its paths. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Which object. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** `group/version`, or just the version for the core group: the `apiVersion` of an object. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

export function keyOf(object: KubeObject): ObjectKey {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? { name } : { namespace, name };
}

/** `namespace/name`, or just the name: for maps, queues, logs and messages. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKeyText(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The one owner that manages this object, if any. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** The path of a resource collection or of one object (and its subresource) in it. */
export function pathOf(
  resource: Resource,
  at: { namespace?: string | undefined; name?: string; subresource?: string } = {},
): string {
  const root =
    resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope =
    resource.namespaced && at.namespace !== undefined
      ? `/namespaces/${encodeURIComponent(at.namespace)}`
      : '';
  const name = at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`;
  const subresource = at.subresource === undefined ? '' : `/${at.subresource}`;
  return `${root}${scope}/${resource.plural}${name}${subresource}`;
}
