/** Custom kinds, made from stored definitions. */
import { isFault } from '@hutch/base';
import {
  apiVersionOf,
  dnsSubdomainProblems,
  isTerminating,
  type Resource,
  statusFault,
} from '@hutch/kube-meta';
import { isObject, type JsonObject, omit } from '../../json.ts';
import { finalizerWarnings } from '../../metadata.ts';
import { invalidValue, type Problem } from '../../problems.ts';
import { checkedInTime, hasRules, ruleProblems } from '../../schema/cel/rules.ts';
import { embeddedProblems, repeatedItems } from '../../schema/list-types.ts';
import { normalise } from '../../schema/normalise.ts';
import { envelope, type Schema } from '../../schema/schema.ts';
import { readTyped } from '../../schema/typed.ts';
import { unknownMembers } from '../../schema/unknown.ts';
import { validate } from '../../schema/validate.ts';
import { byPriority } from '../../served-groups.ts';
import type { ApiObject, Kind } from '../kind.ts';
import { type CallWebhook, webhookConversion } from './conversion.ts';
import {
  type DefinedVersion,
  type Definition,
  definedResource,
  isConditionTrue,
  versionsOf,
} from './definition.ts';
import { objectGone } from './lifecycle.ts';

const made = new WeakMap<object, readonly Kind[]>();

/** The served versions of a stored definition, each as a kind. Stored definitions are frozen, so once is enough. */
export function kindsOf(stored: ApiObject, call?: CallWebhook): readonly Kind[] {
  const known = made.get(stored);
  if (known) return known;
  const definition = stored as Definition;
  const isServed = isConditionTrue(definition, 'Established');
  const kinds = versionsOf(definition)
    .filter(({ served }) => served && isServed)
    .map((version) => customKind(definition, version, call));
  made.set(stored, kinds);
  return kinds;
}

function schemaOf(version: DefinedVersion | undefined): Schema {
  return version?.schema?.openAPIV3Schema ?? {};
}

function customKind(definition: Definition, version: DefinedVersion, call: CallWebhook | undefined): Kind {
  const { spec, status } = definition;
  const names = status?.acceptedNames ?? spec.names;
  const resource = definedResource(definition, version.name);
  const stored = versionsOf(definition).find(({ storage }) => storage);
  const schema = schemaOf(version);
  const { subresources = {} } = version;
  const convert = webhookConversion(spec.conversion, call);
  return {
    resource,
    singular: names.singular || names.kind.toLowerCase(),
    listKind: names.listKind || `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
    subresources: [...(subresources.status ? ['status'] : []), ...(subresources.scale ? ['scale'] : [])],
    isCustom: true,
    printerColumns: version.additionalPrinterColumns ?? [],
    ...(subresources.scale ? { scale: subresources.scale } : {}),
    storedVersion: stored?.name ?? '',
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    nameProblems: dnsSubdomainProblems,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    statusWritesMetadata: false,
    returnsDeleted: false,
    ...(version.deprecated ? { deprecation: deprecationOf(definition, version) } : {}),
    warnings: finalizerWarnings,
    decode: (body) => decoded(body, resource.kind, version.name),
    unknownFields: (body) => [
      ...(isObject(body.metadata) ? metadataOf(body.metadata, resource.kind, version.name).unknown : []).map(
        (path) => `metadata.${path}`,
      ),
      ...unknownMembers(omit(body, ...envelope), rootSchema(schema)).sort(),
    ],
    ...(convert ? { convert } : {}),
    read: reader(schemaOf(stored)),
    prepareCreate: (object) => {
      if (isTerminating(definition)) throw terminatingFault(resource, object.metadata.name);
      return object;
    },
    settle: (_, house) => objectGone(definition.metadata.name, house),
    normalise: (object) => normaliseCustom(object, schema),
    validate: (object, old) => customProblems(object, schema, old),
  };
}

/** Nothing new comes into a kind that is on its way out. */
function terminatingFault({ group, plural }: Resource, name: string): Error {
  const why = 'create not allowed while custom resource definition is terminating';
  const message = `${plural}.${group} "${name}" is forbidden: ${why}`;
  return statusFault('forbidden', message, { name, group, kind: plural });
}

function deprecationOf(definition: Definition, version: DefinedVersion): string {
  const { group, names } = definition.spec;
  const text = `${apiVersionOf({ group, version: version.name })} ${names.kind} is deprecated`;
  const [newer] = versionsOf(definition)
    .filter((other) => other.served && !other.deprecated)
    .map(({ name }) => name)
    .sort(byPriority);
  const advice = newer === undefined ? '' : `; use ${apiVersionOf({ group, version: newer })} ${names.kind}`;
  return version.deprecationWarning ?? `${text}${advice}`;
}

// ---- reading bodies -------------------------------------------------------------------------------------

/** Of a custom object only the metadata has a type before its schema is asked. */
function decoded(body: JsonObject, kind: string, version: string): JsonObject {
  if (body.metadata === undefined || body.metadata === null) return body;
  return { ...body, metadata: metadataOf(body.metadata, kind, version).value };
}

function metadataOf(metadata: unknown, kind: string, version: string): ReturnType<typeof readTyped> {
  try {
    return readTyped(metadata, 'meta.v1.ObjectMeta');
  } catch (err) {
    if (!isFault(err, 'invalid')) throw err;
    const message = `${kind} in version "${version}" cannot be handled as a ${kind}: ${err.message}`;
    throw statusFault('badRequest', message, undefined, err);
  }
}

function normaliseCustom(object: ApiObject, schema: Schema): ApiObject {
  const { apiVersion, kind, metadata, ...content } = object;
  const normalised = normalise(content, rootSchema(schema)) as object;
  return { apiVersion, kind, metadata, ...normalised };
}

/** What is stored is seen with the defaults its schema has now. Most objects have them all, and are passed as they are. */
function reader(schema: Schema): (stored: ApiObject) => ApiObject {
  const seen = new WeakMap<object, ApiObject>();
  const root = rootSchema(schema);
  return (stored) => {
    const known = seen.get(stored);
    if (known) return known;
    const content = omit(stored, ...envelope);
    const after = normalise(content, root);
    const shown =
      after === content ? stored : Object.freeze({ ...pickEnvelope(stored), ...(after as object) });
    seen.set(stored, shown);
    return shown;
  };
}

function pickEnvelope({ apiVersion, kind, metadata }: ApiObject): ApiObject {
  return { apiVersion, kind, metadata };
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

// ---- validation -----------------------------------------------------------------------------------------

/** With one of these a rule could stumble over what is wrong already, so none is asked. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const unchecked: Problem = {
  ...invalidValue('<nil>', '', ''),
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

function customProblems(object: ApiObject, schema: Schema, old: ApiObject | undefined): Problem[] {
  const root = rootSchema(schema);
  const content = omit(object, ...envelope);
  const before = old && omit(old, ...envelope);
  return checkedInTime(schema, () => {
    const problems = [
      ...validate(content, root, '', before),
      ...embeddedProblems(content, root),
      ...repeatedItems(content, root),
    ];
    if (!hasRules(schema)) return problems;
    if (problems.some(({ reason }) => blocking.has(reason))) return [...problems, unchecked];
    return [...problems, ...ruleProblems(object, schema, old)];
  });
}
