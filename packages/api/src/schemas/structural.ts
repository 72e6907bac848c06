/**
 * From a zod schema to what a CRD may hold: a *structural* OpenAPI v3 schema.
 *
 * zod speaks OpenAPI 3.0 already. What is left over is taken away here: bounds that only say "a JavaScript integer",
 * the pattern it adds to a date-time, `additionalProperties` beside preserved fields, and the branches of
 * int-or-string, which Kubernetes wants in one fixed form.
 */
import { z } from 'zod';

export type JsonSchema = { readonly [key: string]: unknown };

/** Marks an object whose inside is someone else's business and must be written as bare `type: object`. */
const plainObject = 'x-hutch-plain-object';

export function structuralSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...root } = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' });
  return structural(root);
}

function structural(node: JsonSchema): JsonSchema {
  if (node[plainObject]) return { type: 'object' };
  if (node['x-kubernetes-int-or-string']) return intOrString(node);
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (isResidue(node, key, value)) continue;
    kept[key] = structuralValue(key, value);
  }
  return kept;
}

function structuralValue(key: string, value: unknown): unknown {
  switch (key) {
    case 'properties':
      return mapValues(value as Record<string, JsonSchema>, structural);
    case 'items':
    case 'additionalProperties':
      return structural(value as JsonSchema);
    case '$ref':
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
    case 'not':
      throw new Error(`a structural schema cannot hold ${key}: ${JSON.stringify(value)}`);
    default:
      return value;
  }
}

function isResidue(node: JsonSchema, key: string, value: unknown): boolean {
  switch (key) {
    case 'minimum':
      return value === Number.MIN_SAFE_INTEGER;
    case 'maximum':
      return value === Number.MAX_SAFE_INTEGER;
    case 'properties':
      return Object.keys(value as object).length === 0;
    case 'pattern':
      return node.format === 'date-time';
    case 'additionalProperties':
      // `false` is zod's way to close an object; in a CRD unknown fields are pruned, never refused here.
      return value === false || node['x-kubernetes-preserve-unknown-fields'] === true;
    default:
      return false;
  }
}

function intOrString(node: JsonSchema): JsonSchema {
  const text = (node.anyOf as JsonSchema[]).find((branch) => branch.type === 'string');
  return {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...(text?.pattern === undefined ? {} : { pattern: text.pattern }),
    'x-kubernetes-int-or-string': true,
  };
}

function mapValues<A, B>(object: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
