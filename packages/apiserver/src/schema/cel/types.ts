/** Declares the types of a schema, so that a rule about something the schema does not have is refused when it is made. */
import type { Environment } from '@marcbachmann/cel-js';
import type { Schema } from '../schema.ts';
import { identifierOf } from './values.ts';

/** Declares the type of a schema and all it is made of; answers with its name. */
export function declareType(env: Environment, schema: Schema, isRoot: boolean): string {
  return new Declarer(env).typeOf(schema, isRoot);
}

class Declarer {
  readonly #env: Environment;
  #count = 0;

  constructor(env: Environment) {
    this.#env = env;
  }

  typeOf(schema: Schema | undefined, isRoot = false): string {
    if (!schema || schema['x-kubernetes-int-or-string']) return 'dyn';
    switch (schema.type) {
      case 'integer':
        return 'int';
      case 'number':
        return 'double';
      case 'boolean':
        return 'bool';
      case 'string':
        return textType(schema.format);
      case 'array':
        return `list<${this.typeOf(schema.items)}>`;
      case 'object':
        return this.#objectType(schema, isRoot);
      default:
        return 'dyn';
    }
  }

  #objectType(schema: Schema, isRoot: boolean): string {
    const { properties = {}, additionalProperties } = schema;
    if (typeof additionalProperties === 'object') return `map<string, ${this.typeOf(additionalProperties)}>`;
    if (additionalProperties === true) return 'map<string, dyn>';
    const fields: Record<string, string> = {};
    for (const [name, property] of Object.entries(properties))
      fields[identifierOf(name)] = this.typeOf(property);
    if (isRoot || schema['x-kubernetes-embedded-resource']) {
      fields.apiVersion = 'string';
      fields.kind = 'string';
      fields.metadata = this.#declare({ name: 'string', generateName: 'string' });
    }
    return this.#declare(fields);
  }

  #declare(fields: Record<string, string>): string {
    const name = `object${++this.#count}`;
    this.#env.registerType(name, { ctor: class {}, fields });
    // Objects of one type can be compared, and with nothing.
    this.#env.registerOperator(`${name} == ${name}`, () => true);
    this.#env.registerOperator(`${name} == null`, () => false);
    return name;
  }
}

function textType(format: string | undefined): string {
  switch (format) {
    case 'date-time':
    case 'date':
      return 'google.protobuf.Timestamp';
    case 'duration':
      return 'google.protobuf.Duration';
    case 'byte':
      return 'bytes';
    default:
      return 'string';
  }
}
