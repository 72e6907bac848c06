/**
 * What the server knows of a kind. Kinds are data: the verbs are written once and read from this what differs.
 * A new built-in kind is one entry in `builtin.ts`; custom ones are made from stored definitions.
 */
import type { Clock, Log } from '@hutch/base';
import { apiVersionOf, type KubeObject, type ObjectKey, type Resource, type User } from '@hutch/kube-meta';
import type { Storage } from '@hutch/storage';
import type { Problem } from '../problems.ts';

/** An object between a request and the store. */
export interface ApiObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** A column of the table that people are shown, filled from a path into the object. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  /** Above 0: shown only where there is room. */
  readonly priority?: number;
}

/** Where the members of a Scale are found in an object. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The other objects, as a kind may look at them while it decides on a write: the store as it is then. */
export interface Around {
  readonly now: Date;
  get(of: Stored, at: ObjectKey): ApiObject | undefined;
  list(of: Stored, namespace?: string): readonly ApiObject[];
  /** Takes a name nobody else may have, until this write is durable or has failed; false when it is taken. */
  reserve(name: string): boolean;
}

/** What a kind needs to do something about a write that has happened. */
export interface House {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
}

/** What says where the objects of a resource are kept. */
type Stored = Pick<Resource, 'group' | 'plural' | 'namespaced'>;

export interface Kind {
  readonly resource: Resource;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  /** `status` brings the rules of the status subresource; the others are served by name. */
  readonly subresources: readonly string[];
  /** Objects of all versions of a kind are kept together, in this one. */
  readonly storedVersion: string;
  /** The group they are kept under when it is another one: the two kinds of events are two views of one. */
  readonly storedGroup?: string;
  /** Shows an object in another of its versions, where they differ in more than the name. */
  readonly shownAs?: (object: ApiObject, apiVersion: string) => ApiObject;
  /** A stored object as it is read: with what its schema has come to default since. */
  readonly read?: (stored: ApiObject) => ApiObject;
  /** What a field selector may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  readonly nameProblems: (name: string) => string[];
  /** Counts changes of what the user wants: everything but metadata and status. */
  readonly hasGeneration: boolean;
  /** An update that names no resourceVersion overwrites whatever is there. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A client may create an object with a status: whoever makes it is who knows it. */
  readonly createsStatus?: boolean;
  /** A status write may change labels and annotations too. */
  readonly statusWritesMetadata: boolean;
  /** A delete answers with the object rather than with a Status. */
  readonly returnsDeleted: boolean;

  /** Removes what the kind does not have and fills in what it defaults. Never changes its argument. */
  readonly normalise: (object: ApiObject) => ApiObject;
  readonly validate: (object: ApiObject, old: ApiObject | undefined) => Problem[];
  /** What its writer should think over, though it is allowed. */
  readonly warnings?: (object: ApiObject, old: ApiObject | undefined) => readonly string[];
  /** Reads a whole body: every member of its right type, or a refusal; what the kind does not have is left out. */
  readonly decode?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** What the server itself decides at creation, before it validates. Throws when something else forbids it. */
  readonly prepareCreate?: (object: ApiObject, around: Around) => ApiObject;
  /** What the server itself derives at every write, before it validates. */
  readonly prepareUpdate?: (object: ApiObject, old: ApiObject, around: Around) => ApiObject;
  /** What follows from a write that is durable now, before it is answered. */
  readonly settle?: (object: ApiObject, house: House) => Promise<void>;
  /** Why this object may not be deleted, if so. `count` tells how many keys a part of the store has. */
  readonly deletionRefusal?: (object: ApiObject, count: (prefix: string) => number) => string | undefined;
  /** How long an object may live on after it was told to go; at once when absent. */
  readonly graceSeconds?: (object: ApiObject, asked: number | undefined) => number;
  /** What marking an object for deletion changes in it besides its metadata. */
  readonly markTerminating?: (object: ApiObject) => ApiObject;
  /** Whether something other than metadata.finalizers still holds the object. */
  readonly isHeld?: (object: ApiObject) => boolean;
  /** When an object may be forgotten, in milliseconds since the epoch. */
  readonly expiresAt?: (object: ApiObject) => number;
  /** Paths of what a body has and the kind does not, as in `spec.containers[0].imgae`; none when absent. */
  readonly unknownFields?: (body: Readonly<Record<string, unknown>>) => readonly string[];
  /** Told to everybody who uses this version of the kind. */
  readonly deprecation?: string;
  /** Made from a stored definition. Kubernetes serves these a little differently from those it was built with. */
  readonly isCustom?: boolean;
  /** An update of what is not there makes it. */
  readonly allowsCreateOnUpdate?: boolean;
  /** Columns of a custom kind besides its name; those of built-in kinds are in `output/`. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** With it, `scale` is among the subresources. */
  readonly scale?: ScalePaths;
  /** Versions differ in more than their name, and only somebody outside can tell how. */
  readonly convert?: (objects: readonly ApiObject[], apiVersion: string) => Promise<readonly ApiObject[]>;
  /** A question instead of a thing: answered on create, never stored. */
  readonly review?: (object: ApiObject, asker: User) => Promise<unknown>;
}

/** Where the objects of a kind are kept. Names hold no slash, so no key is a prefix of another's. */
export function storagePrefix(
  { resource, storedGroup = resource.group }: { resource: Stored; storedGroup?: string },
  namespace?: string,
): string {
  const root = `/${storedGroup || 'core'}/${resource.plural}/`;
  return namespace === undefined ? root : `${root}${namespace}/`;
}

export function storageKey(kind: Kind, { namespace, name }: ObjectKey): string {
  return storagePrefix(kind, kind.resource.namespaced ? namespace : undefined) + name;
}

export function storedApiVersion({ resource, storedVersion, storedGroup = resource.group }: Kind): string {
  return apiVersionOf({ group: storedGroup, version: storedVersion });
}

export function hasStatus(kind: Kind): boolean {
  return kind.subresources.includes('status');
}
