/** Object metadata: what a client may say of it, what only the server says, what may never change. */
import { Fault } from '@hutch/base';
import {
  type DraftMeta,
  dnsLabelProblems,
  foregroundFinalizer,
  isTerminating,
  labelKeyProblems,
  labelValueProblems,
  namespaceFinalizer,
  type ObjectMeta,
  type OwnerReference,
  orphanFinalizer,
} from '@hutch/kube-meta';
import { goType } from './go-types.ts';
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
  return new Fault(
    'invalid',
    `json: cannot unmarshal ${goType(value)} into Go struct field ObjectMeta.${field} of type ${wanted}`,
  );
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

/**
 * Metadata as a client sent it: known members of the right type, or an `invalid` fault. Empty ones are as good as
 * absent.
 */
export function readMetadata(value: unknown): DraftMeta {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) {
    throw new Fault('invalid', `json: cannot unmarshal ${goType(value)} into Go value of type v1.ObjectMeta`);
  }
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
  const { name, namespace, generateName, generation, labels, annotations, finalizers, ownerReferences } =
    draft;
  return {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(kind.resource.namespaced && namespace !== undefined ? { namespace } : {}),
    uid: crypto.randomUUID(),
    resourceVersion: '', // stamped when the revision is known
    ...(kind.hasGeneration ? { generation: 1 } : generation === undefined ? {} : { generation }),
    creationTimestamp: timestamp(now),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ...(ownerReferences ? { ownerReferences } : {}),
  };
}

const serverFields = [
  'name',
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
  const { generateName, labels, annotations, finalizers, ownerReferences } = asked;
  return {
    ...(Object.fromEntries(kept) as unknown as ObjectMeta),
    ...(generateName === undefined ? {} : { generateName }),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ...(ownerReferences ? { ownerReferences } : {}),
  };
}

/** What a client tried to change although nobody may. A field it left out is no attempt. */
export function immutableMetadataProblems(asked: DraftMeta, old: ObjectMeta): Problem[] {
  const isChanged = {
    uid: asked.uid !== old.uid,
    // A client may hold a copy from before the object was told to go, or told to hurry.
    deletionTimestamp: old.deletionTimestamp === undefined,
    deletionGracePeriodSeconds: asked.deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds,
  };
  const fields = Object.keys(isChanged) as (keyof typeof isChanged)[];
  const problems = fields
    .filter((field) => asked[field] !== undefined && isChanged[field])
    .map((field) => invalidValue(`metadata.${field}`, asked[field], immutable));
  return repeated(problems, 2);
}

/**
 * Kubernetes looks at the metadata of an update in several layers, and each that is not content says so: the causes
 * of its answer have them all, its message each once.
 */
function repeated(problems: readonly Problem[], times: number): Problem[] {
  return Array.from({ length: times }, () => problems).flat();
}

export function metadataProblems(object: ApiObject, kind: Kind, old: ApiObject | undefined): Problem[] {
  const { metadata } = object;
  const layers = !old ? 1 : kind.isCustom ? 3 : 4;
  const chosen = [
    ...labelProblems(metadata),
    ...annotationProblems(metadata),
    ...ownerProblems(metadata.ownerReferences ?? []),
  ];
  return [
    ...(old ? [] : nameProblems(metadata, kind)),
    ...namespaceProblems(metadata, old),
    ...repeated(chosen, layers),
    ...repeated(finalizerProblems(metadata), old && !kind.isCustom ? 2 : 1),
    ...repeated(newFinalizerProblems(metadata, old), 2),
  ];
}

function nameProblems({ name, generateName }: ObjectMeta, kind: Kind): Problem[] {
  // The beginning of a name may end as no name may: something follows.
  const beginning = generateName?.replace(/(?<=.)-$/, 'a');
  const beginningProblems = beginning === undefined ? [] : kind.nameProblems(beginning);
  return [
    ...beginningProblems.map((detail) => invalidValue('metadata.generateName', generateName, detail)),
    ...(name === ''
      ? [required('metadata.name', 'name or generateName is required')]
      : kind.nameProblems(name).map((detail) => invalidValue('metadata.name', name, detail))),
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
  const problems = owners.flatMap(oneOwnerProblems);
  const controllers = owners.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const names = controllers.map(({ kind, name }) => `${kind}/${name}`).join(' and ');
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${names}`;
    problems.push(invalidValue('metadata.ownerReferences', owners, detail));
  }
  return problems;
}

function oneOwnerProblems(owner: OwnerReference): Problem[] {
  const { apiVersion, kind } = owner;
  const isVersioned = typeof apiVersion === 'string' && /^([^/]+\/)?[^/]+$/.test(apiVersion);
  const at = (field: string) => `metadata.ownerReferences.${field}`;
  return [
    ...(isVersioned ? [] : [invalidValue(at('apiVersion'), apiVersion ?? '', 'version must not be empty')]),
    ...(['kind', 'name', 'uid'] as const)
      .filter((field) => typeof owner[field] !== 'string' || owner[field] === '')
      .map((field) => invalidValue(at(field), owner[field] ?? '', 'must not be empty')),
    // Events are forgotten after an hour, and would take what they own along.
    ...(kind === 'Event' && (apiVersion === 'v1' || apiVersion === 'events.k8s.io/v1')
      ? [
          invalidValue(
            'metadata.ownerReferences',
            owner,
            `${ownerText(owner)} is disallowed from being an owner`,
          ),
        ]
      : []),
  ];
}

function ownerText({ apiVersion, kind }: OwnerReference): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function finalizerProblems({ finalizers = [] }: ObjectMeta): Problem[] {
  return finalizers.flatMap((finalizer) =>
    labelKeyProblems(finalizer).map((detail) => invalidValue('metadata.finalizers', finalizer, detail)),
  );
}

/** Who is on the way out cannot be held by one more. */
function newFinalizerProblems({ finalizers = [] }: ObjectMeta, old: ApiObject | undefined): Problem[] {
  if (!old || !isTerminating(old)) return [];
  const added = finalizers.filter((finalizer) => !old.metadata.finalizers?.includes(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [forbiddenField('metadata.finalizers', detail)];
}

const standardFinalizers: ReadonlySet<string> = new Set([
  foregroundFinalizer,
  orphanFinalizer,
  namespaceFinalizer,
]);

/** Finalizers of custom objects may have any name; one that others could choose too is warned of. */
export function finalizerWarnings(object: ApiObject, old: ApiObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = new Set(object.metadata.finalizers);
  const advice = 'to avoid accidental conflicts with other finalizer writers';
  return [...added]
    .filter(
      (finalizer) => !before.has(finalizer) && !finalizer.includes('/') && !standardFinalizers.has(finalizer),
    )
    .sort()
    .map((finalizer) => {
      const path = finalizer.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name${path} ${advice}`;
    });
}

/** A name for an object that only said how its name should begin. */
export function generatedName(base: string): string {
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789'; // no vowels, so no words; nothing that looks like another
  const random = crypto.getRandomValues(new Uint8Array(5));
  const suffix = Array.from(random, (byte) => alphabet[byte % alphabet.length]).join('');
  return base.slice(0, 63 - suffix.length) + suffix;
}
