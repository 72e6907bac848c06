/** Object metadata: what a client may say of it, what only the server says, what may never change. */
import {
  type DraftMeta,
  dnsLabelProblems,
  isTerminating,
  labelKeyProblems,
  labelValueProblems,
  type ObjectMeta,
  type OwnerReference,
  statusFault,
} from '@hutch/kube-meta';
import { isObject } from './json.ts';
import type { ApiObject, Kind } from './kinds/kind.ts';
import { forbiddenField, immutable, invalidValue, type Problem, required, tooLong } from './problems.ts';

const maxAnnotationBytes = 256 * 1024;

/** Seconds are the precision of metadata. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

type Read = (value: unknown, field: string) => unknown;

function wrongType(value: unknown, field: string, wanted: string): Error {
  const given = Array.isArray(value) ? 'array' : typeof value;
  const message = `json: cannot unmarshal ${given} into Go struct field ObjectMeta.metadata.${field} of type ${wanted}`;
  return statusFault('badRequest', message);
}

const text: Read = (value, field) => {
  if (typeof value !== 'string') throw wrongType(value, field, 'string');
  return value;
};

const integer: Read = (value, field) => {
  if (!Number.isSafeInteger(value)) throw wrongType(value, field, 'int64');
  return value;
};

const textMap: Read = (value, field) => {
  if (!isObject(value)) throw wrongType(value, field, 'map[string]string');
  for (const member of Object.values(value)) text(member, field);
  return value;
};

const textList: Read = (value, field) => {
  if (!Array.isArray(value)) throw wrongType(value, field, '[]string');
  for (const member of value) text(member, field);
  return value;
};

const ownerList: Read = (value, field) => {
  if (!Array.isArray(value)) throw wrongType(value, field, '[]OwnerReference');
  for (const member of value) if (!isObject(member)) throw wrongType(member, field, 'OwnerReference');
  return value;
};

/** Everything else a client sends (managedFields, selfLink, what it made up) is not kept. */
const readers: Readonly<Record<string, Read>> = {
  name: text,
  generateName: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: integer,
  creationTimestamp: text,
  deletionTimestamp: text,
  deletionGracePeriodSeconds: integer,
  labels: textMap,
  annotations: textMap,
  finalizers: textList,
  ownerReferences: ownerList,
};

/** Metadata as a client sent it: known members of the right type. Empty ones are as good as absent. */
export function readMetadata(value: unknown): DraftMeta {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw wrongType(value, '', 'ObjectMeta');
  const members = Object.entries(readers).flatMap(([field, read]) => {
    const member = value[field];
    if (member === undefined || member === null) return [];
    read(member, field);
    return isEmpty(member) ? [] : [[field, member] as const];
  });
  return Object.fromEntries(members);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || (isObject(value) && Object.keys(value).length === 0);
}

/** The metadata of a new object: what the client may choose, and an identity from the server. */
export function newMetadata(draft: DraftMeta & { name: string }, kind: Kind, now: Date): ObjectMeta {
  const { name, namespace, generateName, labels, annotations, finalizers, ownerReferences } = draft;
  return {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(kind.resource.namespaced && namespace !== undefined ? { namespace } : {}),
    uid: crypto.randomUUID(),
    resourceVersion: '', // stamped when the revision is known
    ...(kind.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: timestamp(now),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ...(ownerReferences ? { ownerReferences } : {}),
  };
}

const serverFields = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** The metadata of an updated object: the client's choice of what it may choose, the rest as it was. */
export function updatedMetadata(asked: DraftMeta, old: ObjectMeta): ObjectMeta {
  const kept = serverFields.flatMap((field) =>
    old[field] === undefined ? [] : [[field, old[field]] as const],
  );
  const { labels, annotations, finalizers, ownerReferences } = asked;
  return {
    ...(Object.fromEntries(kept) as unknown as ObjectMeta),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ...(ownerReferences ? { ownerReferences } : {}),
  };
}

/** What a client tried to change although nobody may. A field it left out is no attempt. */
export function immutableMetadataProblems(asked: DraftMeta, old: ObjectMeta): Problem[] {
  const fixed = ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;
  const changed = fixed.filter((field) => {
    // A client may hold a copy from before the object was told to go.
    if (field !== 'creationTimestamp' && old[field] !== undefined) return false;
    return asked[field] !== undefined && asked[field] !== old[field];
  });
  return changed
    .filter((field) => old[field] !== undefined)
    .map((field) => invalidValue(`metadata.${field}`, asked[field], immutable));
}

export function metadataProblems(object: ApiObject, kind: Kind, old: ApiObject | undefined): Problem[] {
  const { metadata } = object;
  const name = old ? [] : kind.nameProblems(metadata.name);
  return [
    ...name.map((detail) => invalidValue('metadata.name', metadata.name, detail)),
    ...namespaceProblems(metadata, old),
    ...labelProblems(metadata),
    ...annotationProblems(metadata),
    ...ownerProblems(metadata.ownerReferences ?? []),
    ...finalizerProblems(metadata, old),
  ];
}

function namespaceProblems({ namespace }: ObjectMeta, old: ApiObject | undefined): Problem[] {
  if (old || namespace === undefined) return [];
  return dnsLabelProblems(namespace).map((detail) => invalidValue('metadata.namespace', namespace, detail));
}

function labelProblems({ labels = {} }: ObjectMeta): Problem[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...labelKeyProblems(key).map((detail) => invalidValue('metadata.labels', key, detail)),
    ...labelValueProblems(value).map((detail) => invalidValue('metadata.labels', value, detail)),
  ]);
}

function annotationProblems({ annotations = {} }: ObjectMeta): Problem[] {
  const entries = Object.entries(annotations);
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return [
    ...entries.flatMap(([key]) =>
      // Only the form matters here: annotation keys may be written in any case.
      labelKeyProblems(key.toLowerCase()).map((detail) => invalidValue('metadata.annotations', key, detail)),
    ),
    ...(bytes > maxAnnotationBytes ? [tooLong('metadata.annotations', maxAnnotationBytes)] : []),
  ];
}

function ownerProblems(owners: readonly OwnerReference[]): Problem[] {
  const problems = owners.flatMap((owner, at) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((field) => typeof owner[field] !== 'string' || owner[field] === '')
      .map((field) =>
        invalidValue(`metadata.ownerReferences[${at}].${field}`, owner[field] ?? '', 'must not be empty'),
      ),
  );
  const controllers = owners.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const names = controllers.map(({ kind, name }) => `${kind}/${name}`).join(' and ');
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${names}`;
    problems.push(invalidValue('metadata.ownerReferences', owners, detail));
  }
  return problems;
}

function finalizerProblems(metadata: ObjectMeta, old: ApiObject | undefined): Problem[] {
  const finalizers = metadata.finalizers ?? [];
  const problems = finalizers.flatMap((finalizer) =>
    labelKeyProblems(finalizer).map((detail) => invalidValue('metadata.finalizers', finalizer, detail)),
  );
  if (old && isTerminating(old)) {
    const added = finalizers.filter((finalizer) => !old.metadata.finalizers?.includes(finalizer));
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
      problems.push(forbiddenField('metadata.finalizers', detail));
    }
  }
  return problems;
}

/** A name for an object that only said how its name should begin. */
export function generatedName(base: string): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789'; // no vowels, so no words; nothing that looks like another
  const random = crypto.getRandomValues(new Uint8Array(5));
  const suffix = Array.from(random, (byte) => alphabet[byte % alphabet.length]).join('');
  return base.slice(0, 63 - suffix.length) + suffix;
}

export function nameRequired(): Problem {
  return required('metadata.name', 'name or generateName is required');
}
