/** What may stand in the schema of a definition, beyond that it is structural. */
import { forbiddenField, invalidValue, type Problem, required, unsupportedValue } from '../../problems.ts';
import { ruleChecker, usesOldSelf } from '../../schema/cel/compile.ts';
import { embeddedProblems } from '../../schema/list-types.ts';
import { normalise } from '../../schema/normalise.ts';
import { allSchemas, envelope, memberSchema, type Rule, type Schema } from '../../schema/schema.ts';
import { unknownMembers } from '../../schema/unknown.ts';
import { validate } from '../../schema/validate.ts';
import { structuralProblems } from './structural.ts';

/** A schema as a client may write it: with words the language has and definitions do not. */
type WrittenSchema = Schema & {
  readonly id?: string;
  readonly $ref?: string;
  readonly additionalItems?: unknown;
  readonly patternProperties?: object;
  readonly definitions?: object;
  readonly dependencies?: object;
  readonly uniqueItems?: boolean;
  readonly items?: Schema | readonly Schema[];
};

export function schemaProblems(schema: Schema, path: string, hasStatus: boolean): Problem[] {
  const problems: Problem[] = [
    ...(hasStatus ? rootWithStatusProblems(schema, path) : []),
    ...(schema.nullable ? [forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root')] : []),
  ];
  // What cannot be read as a schema is not told what else it lacks.
  const isReadable = allSchemas(schema).every((one) => !hasForeignWords(one));
  const structural = isReadable ? structuralProblems(schema, path) : [];
  const defaults =
    !isReadable || structural.length > 0
      ? []
      : defaultProblems({ ...schema, 'x-kubernetes-embedded-resource': true }, path);
  const own = ownProblems(schema, path, { isRoot: true, isInMetadata: false, uncorrelated: undefined });
  const rest = [...structural, ...defaults, ...own];
  const rules = rest.length > 0 ? [] : ruleProblems(schema, path, { isRoot: true, uncorrelated: undefined });
  return [...problems, ...rest, ...rules];
}

const foreignWords = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const;

function hasForeignWords(schema: WrittenSchema): boolean {
  return Array.isArray(schema.items) || foreignWords.some((word) => schema[word] !== undefined);
}

const allowedAtRoot: ReadonlySet<string> = new Set(
  'description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations'.split(
    ' ',
  ),
);

const allowedNames =
  '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]';

function rootWithStatusProblems(schema: Schema, path: string): Problem[] {
  if (schema.type !== undefined && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidValue(`${path}.type`, schema.type, detail)];
  }
  const isStrange = Object.keys(schema).some((key) => !allowedAtRoot.has(key));
  const detail = `only ${allowedNames} fields are allowed at the root of the schema if the status subresource is enabled`;
  return isStrange ? [invalidValue(path, schema, detail)] : [];
}

interface Place {
  readonly isRoot: boolean;
  readonly isInMetadata: boolean;
  readonly defaultsForbidden?: string | undefined;
  readonly uncorrelated: string | undefined;
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function ownProblems(schema: WrittenSchema, path: string, place: Place): Problem[] {
  return [
    ...wordProblems(schema, path, place),
    ...(schema.uniqueItems
      ? [
          forbiddenField(
            `${path}.uniqueItems`,
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...childProblems(schema, path, place),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...mapTypeProblems(schema, path),
    ...listTypeProblems(schema, path),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule, at) =>
      ruleFormProblems(rule, schema, `${path}.x-kubernetes-validations[${at}]`),
    ),
  ];
}

function wordProblems(schema: WrittenSchema, path: string, place: Place): Problem[] {
  const { type } = schema;
  return [
    ...(type !== undefined && type !== 'null' && !types.includes(type)
      ? [unsupportedValue(`${path}.type`, type, types)]
      : []),
    ...(type === 'null' ? [unsupportedValue(`${path}.type`, type, types)] : []),
    ...(schema.default !== undefined && place.defaultsForbidden !== undefined
      ? [forbiddenField(`${path}.default`, `must not be set ${place.defaultsForbidden}`)]
      : []),
    ...foreignWords
      .filter((word) => schema[word] !== undefined)
      .map((word) => forbiddenField(`${path}.${word}`, `${word} is not supported`)),
    ...(type === 'null'
      ? [forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(Array.isArray(schema.items)
      ? [forbiddenField(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...(place.isInMetadata && schema['x-kubernetes-embedded-resource']
      ? [forbiddenField(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta')]
      : []),
  ];
}

function childProblems(schema: WrittenSchema, path: string, place: Place): Problem[] {
  const { properties = {}, additionalProperties, items, allOf = [], anyOf = [], oneOf = [], not } = schema;
  const inside: Place = { ...place, isRoot: false };
  const hasBoth =
    additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0;
  const below = (one: Schema, name: string) => ownProblems(one, `${path}.${name}`, inside);
  return [
    ...(hasBoth
      ? [
          forbiddenField(
            `${path}.additionalProperties`,
            'additionalProperties and properties are mutual exclusive',
          ),
        ]
      : []),
    ...(typeof additionalProperties === 'object' ? below(additionalProperties, 'additionalProperties') : []),
    ...Object.entries(properties).flatMap(([name, property]) => {
      const isMeta =
        (place.isRoot || schema['x-kubernetes-embedded-resource'] === true) && envelope.has(name);
      const defaultsForbidden = isMeta && place.isRoot ? `in top-level ${name}` : place.defaultsForbidden;
      const at: Place = { ...inside, isInMetadata: place.isInMetadata || isMeta, defaultsForbidden };
      return ownProblems(property, `${path}.properties[${name}]`, at);
    }),
    ...(not ? below(not, 'not') : []),
    ...allOf.flatMap((part, at) => below(part, `allOf[${at}]`)),
    ...oneOf.flatMap((part, at) => below(part, `oneOf[${at}]`)),
    ...anyOf.flatMap((part, at) => below(part, `anyOf[${at}]`)),
    ...(items && !Array.isArray(items) ? below(items as Schema, 'items') : []),
  ];
}

function mapTypeProblems({ type = '', 'x-kubernetes-map-type': mapType }: Schema, path: string): Problem[] {
  if (mapType === undefined) return [];
  const detail = 'must be object if x-kubernetes-map-type is specified';
  return [
    ...(type === 'object'
      ? []
      : [type === '' ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail)]),
    ...(mapType === 'atomic' || mapType === 'granular'
      ? []
      : [unsupportedValue(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular'])]),
  ];
}

const listTypes = ['atomic', 'set', 'map'];

function listTypeProblems(schema: Schema, path: string): Problem[] {
  const {
    type = '',
    items,
    'x-kubernetes-list-type': listType,
    'x-kubernetes-list-map-keys': keys = [],
  } = schema;
  const ofArray = 'must be array if x-kubernetes-list-type is specified';
  const forKeys = 'must be map if x-kubernetes-list-map-keys is non-empty';
  const typePath = `${path}.x-kubernetes-list-type`;
  if (listType === undefined) return keys.length > 0 ? [required(typePath, forKeys)] : [];
  return [
    ...(type === 'array'
      ? listType === 'set' && items
        ? setItemProblems(items, `${path}.items`)
        : []
      : [type === '' ? required(`${path}.type`, ofArray) : invalidValue(`${path}.type`, type, ofArray)]),
    ...(listTypes.includes(listType) ? [] : [unsupportedValue(typePath, listType, listTypes)]),
    ...(keys.length > 0 && listType !== 'map' ? [invalidValue(typePath, listType, forKeys)] : []),
    ...(listType === 'map' ? mapListProblems(schema, path) : []),
    ...(items && (listType === 'set' || listType === 'map') ? keyProblems(schema, items, path) : []),
  ];
}

function setItemProblems(items: Schema, path: string): Problem[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-map-type': mapType } = items;
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalidValue(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type === 'object' && mapType !== 'atomic') {
    return [invalidValue(`${path}.x-kubernetes-map-type`, listType, detail)];
  }
  return [];
}

function mapListProblems(
  { items, 'x-kubernetes-list-map-keys': keys = [] }: Schema,
  path: string,
): Problem[] {
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  const none =
    keys.length === 0 ? [required(keysPath, 'must not be empty if x-kubernetes-list-type is map')] : [];
  if (!items)
    return [...none, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...none, invalidValue(`${path}.items.type`, items.type ?? '', detail)];
  }
  return [
    ...none,
    ...keys.flatMap((key, at) => {
      const property = items.properties?.[key];
      const scalar = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      return [
        ...(property
          ? property.type === 'array' || property.type === 'object'
            ? [invalidValue(`${path}.items.properties[${key}].type`, items.type, scalar)]
            : []
          : [invalidValue(keysPath, keys, 'entries must all be names of item properties')]),
        ...(keys.indexOf(key) < at
          ? [invalidValue(keysPath, keys, 'must not contain duplicate entries')]
          : []),
      ];
    }),
  ];
}

function keyProblems(schema: Schema, items: Schema, path: string): Problem[] {
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const nullable = items.nullable
    ? [
        forbiddenField(
          `${path}.items.nullable`,
          `cannot be nullable when x-kubernetes-list-type is ${listType}`,
        ),
      ]
    : [];
  if (listType !== 'map') return nullable;
  return [
    ...nullable,
    ...keys.flatMap((key) => {
      const property = items.properties?.[key];
      if (!property) return [];
      const at = `${path}.items.properties[${key}]`;
      const isAlways = items.required?.includes(key) || property.default !== undefined;
      const because = 'this property is in x-kubernetes-list-map-keys, so it';
      return [
        ...(isAlways
          ? []
          : [required(`${at}.default`, `${because} must have a default or be a required property`)]),
        ...(property.nullable ? [forbiddenField(`${at}.nullable`, `${because} cannot be nullable`)] : []),
      ];
    }),
  ];
}

// ---- defaults -------------------------------------------------------------------------------------------

/** A default is a value like any other: known to the schema, and valid. */
function defaultProblems(schema: Schema, path: string): Problem[] {
  const { default: value, items, properties = {}, additionalProperties } = schema;
  const at = `${path}.default`;
  return [
    ...(value === undefined
      ? []
      : unknownMembers(value, schema).length > 0
        ? [invalidValue(at, value, 'must not have unknown fields')]
        : [...below(at, validate(normalise(value, schema), schema)), ...embeddedProblems(value, schema, at)]),
    ...(items ? defaultProblems(items, `${path}.items`) : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      defaultProblems(property, `${path}.properties[${name}]`),
    ),
    ...(typeof additionalProperties === 'object'
      ? defaultProblems(additionalProperties, `${path}.additionalProperties`)
      : []),
  ];
}

/** Problems of a value that stands somewhere: their words do not tell where, only their fields do. */
function below(path: string, problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => ({
    ...problem,
    field: problem.field === '<nil>' ? '<nil>' : problem.field === '' ? path : `${path}.${problem.field}`,
  }));
}

// ---- rules ----------------------------------------------------------------------------------------------

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

function ruleFormProblems(rule: Rule, schema: Schema, path: string): Problem[] {
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
  const text = rule.rule.trim();
  const hasLines = (one: string) => /[\n\r]/.test(one);
  const first =
    text === ''
      ? [required(`${path}.rule`, 'rule is not specified')]
      : message !== '' && message.trim() === ''
        ? [invalidValue(`${path}.message`, message, 'must be non-empty if specified')]
        : hasLines(message.trim())
          ? [invalidValue(`${path}.message`, message, 'must not contain line breaks')]
          : hasLines(text) && message.trim() === ''
            ? [required(`${path}.message`, 'message must be specified if rule contains line breaks')]
            : [];
  return [
    ...first,
    ...(messageExpression !== '' && messageExpression.trim() === ''
      ? [required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified')]
      : []),
    ...(reason === undefined || reasons.includes(reason)
      ? []
      : [unsupportedValue(`${path}.reason`, reason, reasons)]),
    ...(fieldPath === '' || isPathOf(fieldPath, schema)
      ? []
      : [invalidValue(`${path}.fieldPath`, fieldPath, 'must be a valid path')]),
  ];
}

function isPathOf(path: string, schema: Schema): boolean {
  const parts = [...path.matchAll(/\.([^.[\]]+)|\['([^']*)'\]/g)];
  if (parts.map(([part]) => part).join('') !== path) return false;
  const end = parts.reduce<Schema | undefined>(
    (current, [, plain, quoted]) => current && memberSchema(current, plain ?? quoted ?? ''),
    schema,
  );
  return end !== undefined;
}

interface RulePlace {
  readonly isRoot: boolean;
  /** The schema below which an old value cannot be told from another. */
  readonly uncorrelated: string | undefined;
}

function ruleProblems(schema: Schema, path: string, place: RulePlace): Problem[] {
  const { properties = {}, additionalProperties, items, 'x-kubernetes-map-type': mapType } = schema;
  const ofProperties = mapType === 'atomic' ? (place.uncorrelated ?? path) : place.uncorrelated;
  const ofItems =
    schema['x-kubernetes-list-type'] === 'map' ? place.uncorrelated : (place.uncorrelated ?? path);
  return [
    ...(typeof additionalProperties === 'object'
      ? ruleProblems(additionalProperties, `${path}.additionalProperties`, { ...place, isRoot: false })
      : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      ruleProblems(property, `${path}.properties[${name}]`, { isRoot: false, uncorrelated: ofProperties }),
    ),
    ...(items ? ruleProblems(items, `${path}.items`, { isRoot: false, uncorrelated: ofItems }) : []),
    ...compileProblems(schema, path, place),
  ];
}

function compileProblems(schema: Schema, path: string, { isRoot, uncorrelated }: RulePlace): Problem[] {
  const { 'x-kubernetes-validations': rules = [] } = schema;
  if (rules.length === 0) return [];
  const check = ruleChecker(schema, isRoot);
  return rules.flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const verdict = check(rule);
    const usesOld = usesOldSelf(rule.rule) && verdict.rule === undefined;
    const notUsed = 'may not be set if oldSelf is not used in rule';
    return [
      ...(verdict.rule === undefined ? [] : [invalidValue(`${at}.rule`, shownRule(rule), verdict.rule)]),
      ...(verdict.messageExpression === undefined
        ? []
        : [invalidValue(`${at}.messageExpression`, shownRule(rule), verdict.messageExpression)]),
      ...(usesOld && uncorrelated !== undefined
        ? [
            invalidValue(
              `${at}.rule`,
              rule.rule,
              `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`,
            ),
          ]
        : []),
      ...(!usesOld && rule.optionalOldSelf !== undefined
        ? [invalidValue(`${at}.optionalOldSelf`, rule.optionalOldSelf, notUsed)]
        : []),
    ];
  });
}

/** As the server shows a rule: every member it can have. */
function shownRule(rule: Rule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
