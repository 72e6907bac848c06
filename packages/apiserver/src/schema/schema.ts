/** A structural OpenAPI v3 schema, as a CustomResourceDefinition carries it. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** A condition on a value, in the Common Expression Language. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Every schema inside a schema, and the schema itself. */
export function* allSchemas(schema: Schema): Generator<Schema, void, void> {
  const waiting = [schema];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    yield one;
    const { properties = {}, items, additionalProperties, allOf = [], anyOf = [], oneOf = [], not } = one;
    waiting.push(...Object.values(properties), ...allOf, ...anyOf, ...oneOf);
    if (items) waiting.push(items);
    if (typeof additionalProperties === 'object') waiting.push(additionalProperties);
    if (not) waiting.push(not);
  }
}

/** What stands at every object's top, and at that of an embedded one: never pruned, checked elsewhere. */
export const envelope: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

/** The schema of a member, or undefined when the schema does not know it. */
export function memberSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  if (schema.additionalProperties === true) return anything;
  if (schema['x-kubernetes-embedded-resource'] && envelope.has(key)) return anything;
  return undefined;
}
