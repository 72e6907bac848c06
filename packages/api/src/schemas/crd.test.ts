import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crds } from '../crds/index.ts';
import { sandboxCrd } from './crd.ts';
import type { JsonSchema } from './structural.ts';

test('the finished CRDs are those the schemas make (node tools/generate/crds.ts)', () => {
  assert.deepEqual(crds, [sandboxCrd()]);
});

test('the Sandbox CRD has the names, columns and subresource that clients know', () => {
  const { metadata, spec } = sandboxCrd();
  const [version] = spec.versions;
  assert.equal(metadata.name, 'sandboxes.agents.x-k8s.io');
  assert.deepEqual(spec.names, {
    kind: 'Sandbox',
    listKind: 'SandboxList',
    plural: 'sandboxes',
    singular: 'sandbox',
    shortNames: ['sandbox'],
  });
  assert.equal(version?.name, 'v1beta1');
  assert.deepEqual(version?.subresources, { status: {} });
  assert.deepEqual(
    version?.additionalPrinterColumns.map(({ name, jsonPath }) => [name, jsonPath]),
    [
      ['Ready', ".status.conditions[?(@.type=='Ready')].status"],
      ['Reason', ".status.conditions[?(@.type=='Ready')].reason"],
      ['Age', '.metadata.creationTimestamp'],
    ],
  );
});

test('volume claim templates cannot be changed later (CEL rule on spec)', () => {
  const spec = at(sandboxSchemaOf(), 'spec');
  const [rule] = spec['x-kubernetes-validations'] as { rule: string; message: string }[];
  assert.equal(rule?.message, 'volumeClaimTemplates is immutable');
  assert.match(rule?.rule ?? '', /oldSelf\.volumeClaimTemplates/);
});

const structuralKeys = new Set([
  ...['type', 'format', 'properties', 'additionalProperties', 'items', 'required', 'default', 'enum'],
  ...['pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'anyOf'],
]);

test('every node of the schema is structural: a type, and only what a CRD may hold', () => {
  for (const [path, node] of nodesOf(sandboxSchemaOf(), '')) {
    const isIntOrString = node['x-kubernetes-int-or-string'] === true;
    assert.equal('type' in node, !isIntOrString, `type at ${path}`);
    for (const key of Object.keys(node)) {
      assert.ok(structuralKeys.has(key) || key.startsWith('x-kubernetes-'), `${key} at ${path}`);
    }
    assert.ok(!('properties' in node && 'additionalProperties' in node), `both kinds of fields at ${path}`);
  }
});

function sandboxSchemaOf(): JsonSchema {
  const [version] = sandboxCrd().spec.versions;
  assert.ok(version);
  return version.schema.openAPIV3Schema;
}

function at(node: JsonSchema, property: string): JsonSchema {
  return (node.properties as Record<string, JsonSchema>)[property] ?? {};
}

function* nodesOf(node: JsonSchema, path: string): Generator<[string, JsonSchema]> {
  yield [path, node];
  for (const [name, child] of Object.entries((node.properties ?? {}) as Record<string, JsonSchema>)) {
    yield* nodesOf(child, `${path}.${name}`);
  }
  for (const key of ['items', 'additionalProperties']) {
    if (node[key]) yield* nodesOf(node[key] as JsonSchema, `${path}.${key}`);
  }
}
