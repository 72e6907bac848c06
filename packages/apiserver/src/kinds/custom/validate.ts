/** What may be said of a definition, and what may change in it. */
import { dnsSubdomainProblems, jsonEquals } from '@hutch/kube-meta';
import { duplicate, invalidValue, type Problem, required, tooMany } from '../../problems.ts';
import type { Schema } from '../../schema/schema.ts';
import { eachOf, oneOf, unchanged } from '../checks.ts';
import type { ApiObject, PrinterColumn, ScalePaths } from '../kind.ts';
import {
  type DefinedVersion,
  type Definition,
  type DefinitionSpec,
  isConditionTrue,
  type Names,
  versionsOf,
} from './definition.ts';
import { dns1035Problems } from './names.ts';
import { schemaProblems } from './schema-rules.ts';
import { conversionProblems } from './webhook-rules.ts';

export function validateDefinition(object: ApiObject, old: ApiObject | undefined): Problem[] {
  const definition = object as Definition;
  return [
    ...(old ? [] : nameProblems(definition)),
    ...specProblems(definition),
    ...(old ? changeProblems(definition, old as Definition) : []),
    ...statusProblems(definition),
    ...(isConditionTrue(definition, 'Terminating') ? [] : storedVersionProblems(definition)),
    ...approvalProblems(definition),
    ...(definition.spec.preserveUnknownFields
      ? [
          invalidValue(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ];
}

function nameProblems({ metadata, spec }: Definition): Problem[] {
  if (metadata.name === `${spec.names.plural}.${spec.group}`) return [];
  return [invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')];
}

function specProblems(definition: Definition): Problem[] {
  const { spec } = definition;
  const versions = versionsOf(definition);
  const storages = versions.filter(({ storage }) => storage).length;
  const names = versions.map(({ name }) => name);
  const shown = spec.versions && versions.map(shownVersion);
  return [
    ...groupProblems(spec.group),
    ...oneOf('spec.scope', spec.scope, ['Cluster', 'Namespaced']),
    ...eachOf(versions, 'spec.versions', (version, at) =>
      version.schema?.openAPIV3Schema ? [] : [required(`${at}.schema.openAPIV3Schema`)],
    ),
    ...eachOf(versions, 'spec.versions', (version, at) => [
      ...labelOf(`${at}.name`, version.name),
      ...deprecationProblems(version, `${at}.deprecationWarning`),
    ]),
    ...partProblems(versions),
    ...(versions[0] ? labelOf('spec.version', versions[0].name) : []),
    ...(new Set(names).size < names.length
      ? [invalidValue('spec.versions', shown, 'must contain unique version names')]
      : []),
    ...(storages === 1
      ? []
      : [invalidValue('spec.versions', shown, 'must have exactly one version marked as storage version')]),
    ...(['plural', 'singular', 'kind', 'listKind'] as const)
      .filter((field) => !spec.names[field])
      .map((field) => required(`spec.names.${field}`)),
    ...namesProblems(spec.names, 'spec.names'),
    ...conversionProblems(spec.conversion),
  ];
}

/** As the server shows a version: its parts stand elsewhere when all versions share them. */
function shownVersion({
  name,
  served,
  storage,
  deprecated = false,
  deprecationWarning = null,
}: {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string | null;
}): object {
  return {
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function groupProblems(group: string): Problem[] {
  if (group === '') return [required('spec.group')];
  const details = dnsSubdomainProblems(group);
  if (details.length > 0) return [invalidValue('spec.group', group, details.join(','))];
  return group.includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function labelOf(path: string, value: string): Problem[] {
  const details = dns1035Problems(value);
  return details.length === 0 ? [] : [invalidValue(path, value, details.join(','))];
}

function deprecationProblems(
  { deprecated, deprecationWarning: text }: DefinedVersion,
  path: string,
): Problem[] {
  if (text === undefined) return [];
  if (!deprecated) return [invalidValue(path, text, 'can only be set for deprecated versions')];
  return [
    ...(text.length > 256 ? [invalidValue(path, text, 'must be <= 256 characters long')] : []),
    ...(text === '' ? [invalidValue(path, text, 'must not be an empty string')] : []),
  ];
}

/**
 * The parts versions can differ in. Where all versions say the same, the server speaks of what they say as if it
 * stood above them, at the place where it stood before there were versions.
 */
function partProblems(versions: readonly DefinedVersion[]): Problem[] {
  const shared = (part: keyof DefinedVersion) => {
    const [first] = versions;
    return first?.[part] !== undefined && versions.every((version) => jsonEquals(version[part], first[part]));
  };
  const each = (
    part: keyof DefinedVersion,
    above: string,
    check: (version: DefinedVersion, path: string) => Problem[],
  ): Problem[] => {
    const [first] = versions;
    if (first && shared(part)) return check(first, above);
    return versions.flatMap((version, at) => check(version, `spec.versions[${at}].${part}`));
  };
  return [
    ...each('schema', 'spec.validation', ({ schema, subresources }, path) => {
      const { openAPIV3Schema } = schema ?? {};
      const hasStatus = subresources?.status !== undefined;
      return openAPIV3Schema ? schemaProblems(openAPIV3Schema, `${path}.openAPIV3Schema`, hasStatus) : [];
    }),
    ...each('subresources', 'spec.subresources', ({ subresources }, path) =>
      subresources?.scale ? scaleProblems(subresources.scale, `${path}.scale`) : [],
    ),
    ...each('additionalPrinterColumns', 'spec.additionalPrinterColumns', (version, path) =>
      eachOf(version.additionalPrinterColumns, path, columnProblems),
    ),
    ...each('selectableFields', 'spec.selectableFields', ({ selectableFields = [], schema }, path) =>
      selectableProblems(selectableFields, schema?.openAPIV3Schema ?? {}, path),
    ),
  ];
}

function simplePath(path: string, value: string, under: readonly string[], detail: string): Problem[] {
  if (!value.startsWith('.'))
    return [invalidValue(path, value, 'must be a simple json path starting with .')];
  return under.some((prefix) => value.startsWith(prefix)) ? [] : [invalidValue(path, value, detail)];
}

function scaleProblems(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
  path: string,
): Problem[] {
  const either = 'should be a json path under either .spec or .status';
  return [
    ...(specReplicasPath === ''
      ? [required(`${path}.specReplicasPath`)]
      : simplePath(
          `${path}.specReplicasPath`,
          specReplicasPath,
          ['.spec.'],
          'should be a json path under .spec',
        )),
    ...(statusReplicasPath === ''
      ? [required(`${path}.statusReplicasPath`)]
      : simplePath(
          `${path}.statusReplicasPath`,
          statusReplicasPath,
          ['.status.'],
          'should be a json path under .status',
        )),
    ...(labelSelectorPath
      ? simplePath(`${path}.labelSelectorPath`, labelSelectorPath, ['.spec.', '.status.'], either)
      : []),
  ];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnProblems({ name, type, format = '', jsonPath }: PrinterColumn, path: string): Problem[] {
  const ofTypes = `must be one of ${columnTypes.join(',')}`;
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...(type === ''
      ? [required(`${path}.type`, ofTypes)]
      : columnTypes.includes(type)
        ? []
        : [invalidValue(`${path}.type`, type, ofTypes)]),
    ...(format === '' || columnFormats.includes(format)
      ? []
      : [invalidValue(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`)]),
    ...(jsonPath === ''
      ? [required(`${path}.JSONPath`)]
      : simplePath(`${path}.JSONPath`, jsonPath, ['.'], '')),
  ];
}

const maxSelectable = 8;

function selectableProblems(
  fields: readonly { readonly jsonPath: string }[],
  schema: Schema,
  path: string,
): Problem[] {
  const seen = new Set<string>();
  const problems = eachOf(fields, path, ({ jsonPath }, at) => {
    const place = `${at}.jsonPath`;
    if (jsonPath === '') return [required(place)];
    const found = schemaAt(schema, jsonPath);
    if (typeof found === 'string') return [invalidValue(place, jsonPath, `is an invalid path: ${found}`)];
    const isRepeated = seen.has(jsonPath);
    seen.add(jsonPath);
    return [
      ...(jsonPath.startsWith('.metadata')
        ? [invalidValue(place, jsonPath, 'must not point to fields in metadata')]
        : []),
      ...(['string', 'boolean', 'integer'].includes(found.type ?? '')
        ? []
        : [
            invalidValue(
              place,
              jsonPath,
              'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
            ),
          ]),
      ...(isRepeated ? [duplicate(place, jsonPath)] : []),
    ];
  });
  return seen.size > maxSelectable ? [...problems, tooMany(path, seen.size, maxSelectable)] : problems;
}

function schemaAt(schema: Schema, path: string): Schema | string {
  if (!path.startsWith('.')) return `expected [ or . but got: ${path.split(/[.[]/)[0]}`;
  let current = schema;
  for (const name of path.slice(1).split('.')) {
    const next: Schema | undefined = current.properties?.[name];
    if (!next) return 'does not refer to a valid field';
    current = next;
  }
  return current;
}

function namesProblems(names: Names, path: string): Problem[] {
  const mixed = 'may have mixed case, but should otherwise match: ';
  const cased = (field: 'kind' | 'listKind') => {
    const value = names[field] ?? '';
    const details = value === '' ? [] : dns1035Problems(value.toLowerCase());
    return details.length === 0 ? [] : [invalidValue(`${path}.${field}`, value, mixed + details.join(','))];
  };
  return [
    ...(names.plural ? labelOf(`${path}.plural`, names.plural) : []),
    ...(names.singular ? labelOf(`${path}.singular`, names.singular) : []),
    ...cased('kind'),
    ...cased('listKind'),
    ...eachOf(names.shortNames, `${path}.shortNames`, (name, at) => labelOf(at, name)),
    ...(names.kind !== '' && names.kind === names.listKind
      ? [invalidValue(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same')]
      : []),
    ...eachOf(names.categories, `${path}.categories`, (name, at) => labelOf(at, name)),
  ];
}

function changeProblems({ spec }: Definition, old: Definition): Problem[] {
  const before: DefinitionSpec = old.spec;
  return [
    ...(isConditionTrue(old, 'Established')
      ? [
          ...unchanged('spec.scope', spec.scope, before.scope),
          ...unchanged('spec.names.kind', spec.names.kind, before.names.kind),
        ]
      : []),
    ...unchanged('spec.group', spec.group, before.group),
    ...unchanged('spec.names.plural', spec.names.plural, before.names.plural),
  ];
}

function statusProblems({ status }: Definition): Problem[] {
  return status?.acceptedNames ? namesProblems(status.acceptedNames, 'status.acceptedNames') : [];
}

function storedVersionProblems(definition: Definition): Problem[] {
  const path = 'status.storedVersions';
  const stored = definition.status?.storedVersions ?? [];
  if (stored.length === 0) return [invalidValue(path, null, 'must have at least one stored version')];
  const versions = versionsOf(definition);
  return [
    ...versions
      .filter(({ storage, name }) => storage && !stored.includes(name))
      .map(({ name }) => invalidValue(path, stored, `must have the storage version ${name}`)),
    ...eachOf(stored, path, (name, at) =>
      versions.some((version) => version.name === name)
        ? []
        : [
            invalidValue(
              at,
              name,
              `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
            ),
          ],
    ),
  ];
}

const approval = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community itself are guarded. */
function approvalProblems({ spec, metadata }: Definition): Problem[] {
  const isGuarded = /(^|\.)(k8s|kubernetes)\.io$/.test(spec.group);
  if (!isGuarded) return [];
  const path = `metadata.annotations[${approval}]`;
  const value = metadata.annotations?.[approval];
  const advice = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === undefined)
    return [required(path, `protected groups must have approval annotation "${approval}", ${advice}`)];
  if (value.startsWith('unapproved') || URL.canParse(value)) return [];
  const detail = `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", ${advice}`;
  return [invalidValue(path, value, detail)];
}
