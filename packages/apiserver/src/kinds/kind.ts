/**
 * What the server knows of a kind. Kinds are data: the verbs are written once and read from this what differs.
 * A new built-in kind is one entry in `builtin.ts`; custom ones are made from stored definitions.
 */
import { apiVersionOf, type KubeObject, type ObjectKey, type Resource, type User } from '@hutch/kube-meta';
import type { Problem } from '../problems.ts';

/** An object between a request and the store. */
export interface ApiObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

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
  /** What a field selector may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  readonly nameProblems: (name: string) => string[];
  /** Counts changes of what the user wants: everything but metadata and status. */
  readonly hasGeneration: boolean;
  /** An update that names no resourceVersion overwrites whatever is there. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A status write may change labels and annotations too. */
  readonly statusWritesMetadata: boolean;
  /** A delete answers with the object rather than with a Status. */
  readonly returnsDeleted: boolean;

  /** Removes what the kind does not have and fills in what it defaults. Never changes its argument. */
  readonly normalise: (object: ApiObject) => ApiObject;
  readonly validate: (object: ApiObject, old: ApiObject | undefined) => Problem[];
  /** What the server itself decides at creation. */
  readonly prepareCreate?: (object: ApiObject, now: Date) => ApiObject;
  /** What the server itself derives at every write. */
  readonly prepareUpdate?: (object: ApiObject, old: ApiObject, now: Date) => ApiObject;
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
  /** A question instead of a thing: answered on create, never stored. */
  readonly review?: (object: ApiObject, asker: User) => Promise<unknown>;
}

/** Where the objects of a kind are kept. Names hold no slash, so no key is a prefix of another's. */
export function storagePrefix({ resource }: Pick<Kind, 'resource'>, namespace?: string): string {
  const root = `/${resource.group || 'core'}/${resource.plural}/`;
  return namespace === undefined ? root : `${root}${namespace}/`;
}

export function storageKey(kind: Kind, { namespace, name }: ObjectKey): string {
  return storagePrefix(kind, kind.resource.namespaced ? namespace : undefined) + name;
}

export function storedApiVersion({ resource, storedVersion }: Kind): string {
  return apiVersionOf({ group: resource.group, version: storedVersion });
}

export function hasStatus(kind: Kind): boolean {
  return kind.subresources.includes('status');
}
