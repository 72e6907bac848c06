/** What a definition gets from the server when it is written. */
import { jsonEquals } from '@hutch/kube-meta';
import type { ApiObject } from '../kind.ts';
import { type Definition, type DefinitionStatus, versionsOf } from './definition.ts';

export function defaultDefinition(object: ApiObject): ApiObject {
  const definition = object as Definition;
  const { spec } = definition;
  const { names } = spec;
  const defaulted = {
    ...spec,
    names: {
      ...names,
      singular: names.singular || names.kind.toLowerCase(),
      ...(names.listKind || names.kind === '' ? {} : { listKind: `${names.kind}List` }),
    },
    conversion: spec.conversion ?? { strategy: 'None' },
  };
  return { ...object, spec: defaulted };
}

/** A new one has no say in its status; the names in it are accepted one step later. */
export function prepareDefinition(object: ApiObject): ApiObject {
  const status: DefinitionStatus = {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: storedVersions(object as Definition, []),
  };
  return { ...object, status };
}

/** Every version objects have ever been stored in is remembered: some of them may still be. */
export function reprepareDefinition(object: ApiObject, old: ApiObject): ApiObject {
  const { status } = old as Definition;
  const before = status?.storedVersions ?? [];
  const versions = storedVersions(object as Definition, before);
  return jsonEquals(versions, before)
    ? object
    : { ...object, status: { ...status, storedVersions: versions } };
}

function storedVersions(definition: Definition, before: readonly string[]): readonly string[] {
  const stored = versionsOf(definition).find(({ storage }) => storage)?.name;
  return stored === undefined || before.includes(stored) ? before : [...before, stored];
}
