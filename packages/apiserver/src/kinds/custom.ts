/** Custom kinds, from stored CustomResourceDefinitions; and what is special about the definitions themselves. */
import { dnsSubdomainProblems, jsonEquals, type Resource } from '@hutch/kube-meta';
import { isObject, omit } from '../json.ts';
import { immutable, invalidValue, type Problem, required, unsupportedValue } from '../problems.ts';
import { normalise } from '../schema/normalise.ts';
import { envelope, type Schema } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { type ApiObject, type Kind, storagePrefix } from './kind.ts';

interface DefinedVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object };
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

interface Names {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

interface DefinitionSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: Names;
  readonly versions: readonly DefinedVersion[];
}

interface Definition extends ApiObject {
  readonly spec: DefinitionSpec;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const made = new WeakMap<object, readonly Kind[]>();

/** The served versions of a stored definition, each as a kind. Stored definitions are frozen, so once is enough. */
export function kindsOf(definition: ApiObject): readonly Kind[] {
  const known = made.get(definition);
  if (known) return known;
  const { spec } = definition as Definition;
  const storedVersion = spec.versions.find(({ storage }) => storage)?.name ?? '';
  const kinds = spec.versions
    .filter(({ served }) => served)
    .map((version) => customKind(spec, version, storedVersion));
  made.set(definition, kinds);
  return kinds;
}

function customKind(spec: DefinitionSpec, version: DefinedVersion, storedVersion: string): Kind {
  const { names, group, scope } = spec;
  const resource: Resource = {
    group,
    version: version.name,
    plural: names.plural,
    kind: names.kind,
    namespaced: scope === 'Namespaced',
  };
  const schema = version.schema?.openAPIV3Schema ?? {};
  return {
    resource,
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    subresources: version.subresources?.status ? ['status'] : [],
    storedVersion,
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    nameProblems: dnsSubdomainProblems,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    statusWritesMetadata: false,
    returnsDeleted: false,
    normalise: (object) => normaliseCustom(object, schema),
    validate: (object) => validate(omit(object, ...envelope), rootSchema(schema)),
  };
}

function normaliseCustom(object: ApiObject, schema: Schema): ApiObject {
  const { apiVersion, kind, metadata, ...content } = object;
  const normalised = normalise(content, rootSchema(schema)) as object;
  return { apiVersion, kind, metadata, ...normalised };
}

const roots = new WeakMap<Schema, Schema>();

/** The schema of what is an object's own: what every object has is defaulted and checked elsewhere. */
function rootSchema(schema: Schema): Schema {
  const known = roots.get(schema);
  if (known) return known;
  const { properties = {}, required: names = [], ...rest } = schema;
  const root: Schema = {
    ...rest,
    properties: omit(properties, ...envelope),
    required: names.filter((name) => !envelope.has(name)),
  };
  roots.set(schema, root);
  return root;
}

/**
 * A definition with objects stays: without it they would be stored but nobody could see them, and they would come
 * back with the next definition of the name. (Kubernetes deletes them first; that needs a controller.)
 */
export function definitionDeletionRefusal(
  definition: ApiObject,
  count: (prefix: string) => number,
): string | undefined {
  const { group, names, scope, versions } = (definition as Definition).spec;
  const version = versions[0]?.name ?? '';
  const resource = {
    group,
    version,
    plural: names.plural,
    kind: names.kind,
    namespaced: scope === 'Namespaced',
  };
  const objects = count(storagePrefix({ resource }));
  return objects === 0 ? undefined : `${objects} of its objects exist; delete them first`;
}

export function normaliseDefinition(object: ApiObject): ApiObject {
  if (!isObject(object.spec) || !isObject(object.spec.names)) return object;
  const { names, conversion } = object.spec;
  const kind = typeof names.kind === 'string' ? names.kind : '';
  return {
    ...object,
    spec: {
      ...object.spec,
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
      conversion: conversion ?? { strategy: 'None' },
    },
  };
}

/** Definitions are established at once: nothing has to be set up before their objects can be served. */
export function establishDefinition(object: ApiObject, now: Date): ApiObject {
  const { spec, status } = object as Definition;
  const since = `${now.toISOString().slice(0, 19)}Z`;
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastTransitionTime: since,
    reason,
    message,
  });
  const conditions = status?.conditions ?? [
    condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
    condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
  ];
  const stored = spec.versions.find(({ storage }) => storage)?.name;
  const before = (status as { storedVersions?: readonly string[] } | undefined)?.storedVersions ?? [];
  const storedVersions = stored === undefined || before.includes(stored) ? before : [...before, stored];
  return { ...object, status: { ...status, conditions, acceptedNames: spec.names, storedVersions } };
}

export function validateDefinition(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const shape = shapeProblems(object);
  if (shape.length > 0) return shape; // the rest reads the shape
  const { spec, metadata } = object as Definition;
  const problems: Problem[] = [];
  if (metadata.name !== `${spec.names.plural}.${spec.group}`) {
    problems.push(invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (spec.versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    problems.push(
      invalidValue(
        'spec.versions',
        spec.versions.map(({ name }) => name),
        detail,
      ),
    );
  }
  spec.versions.forEach((version, at) => {
    const field = `spec.versions[${at}].schema.openAPIV3Schema`;
    const { openAPIV3Schema } = version.schema ?? {};
    if (!openAPIV3Schema) problems.push(required(field, 'schemas are required'));
    else problems.push(...patternProblems(openAPIV3Schema, field));
  });
  const before = (old as Definition | undefined)?.spec;
  if (before && before.scope !== spec.scope) problems.push(invalidValue('spec.scope', spec.scope, immutable));
  if (before && !jsonEquals(before.names.kind, spec.names.kind)) {
    problems.push(invalidValue('spec.names.kind', spec.names.kind, immutable));
  }
  return problems;
}

function shapeProblems(object: ApiObject): Problem[] {
  const spec = isObject(object.spec) ? object.spec : {};
  const names = isObject(spec.names) ? spec.names : {};
  const problems: Problem[] = [];
  for (const [field, value] of [
    ['spec.group', spec.group],
    ['spec.names.plural', names.plural],
    ['spec.names.kind', names.kind],
  ]) {
    if (typeof value !== 'string' || value === '') problems.push(required(field as string));
  }
  if (spec.scope !== 'Namespaced' && spec.scope !== 'Cluster') {
    problems.push(unsupportedValue('spec.scope', spec.scope, ['Cluster', 'Namespaced']));
  }
  const { versions } = spec;
  if (!Array.isArray(versions) || versions.length === 0 || !versions.every(isNamedVersion)) {
    problems.push(
      invalidValue('spec.versions', versions, 'must have at least one version, each with a name'),
    );
  }
  return problems;
}

function isNamedVersion(version: unknown): boolean {
  return isObject(version) && typeof version.name === 'string' && version.name !== '';
}

/** A pattern we cannot compile would fail every write of the kind later: it is refused now. */
function patternProblems(schema: Schema, field: string): Problem[] {
  const problems: Problem[] = [];
  if (schema.pattern !== undefined) {
    try {
      new RegExp(schema.pattern, 'u');
    } catch {
      problems.push(invalidValue(`${field}.pattern`, schema.pattern, 'must be a valid regular expression'));
    }
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    problems.push(...patternProblems(property, `${field}.properties[${name}]`));
  }
  if (schema.items) problems.push(...patternProblems(schema.items, `${field}.items`));
  if (typeof schema.additionalProperties === 'object') {
    problems.push(...patternProblems(schema.additionalProperties, `${field}.additionalProperties`));
  }
  return problems;
}
