import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import { newSandbox } from '../new-sandbox.ts';
import type { SandboxSpec, SandboxStatus } from '../sandbox.ts';
import { sandboxSchema, type sandboxSpecSchema, type sandboxStatusSchema } from './sandbox.ts';

// The types are written by hand, so that using them loads no schema library; the compiler holds the two together.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const haveSameFields: [
  Same<keyof z.output<typeof sandboxSpecSchema>, keyof SandboxSpec>,
  Same<keyof z.output<typeof sandboxStatusSchema>, keyof SandboxStatus>,
] = [true, true];

test('schema and types name the same fields', () => assert.deepEqual(haveSameFields, [true, true]));

test('defaults are filled in', () => {
  const { spec } = sandboxSchema.parse(newSandbox({ name: 'one', namespace: 'default' }));
  assert.equal(spec.operatingMode, 'Running');
  assert.equal(spec.shutdownPolicy, 'Retain');
});

test('what is inside a pod spec is kept, known to us or not', () => {
  const podSpec = { containers: [{ name: 'a', novelty: 1 }], another: { deep: true } };
  const { spec } = sandboxSchema.parse({ spec: { podTemplate: { spec: podSpec } } });
  assert.deepEqual(spec.podTemplate.spec, podSpec);
});

const podTemplate = { spec: { containers: [] } };
const refused: { name: string; spec: unknown }[] = [
  { name: 'no pod template', spec: {} },
  { name: 'a pod template without containers', spec: { podTemplate: { spec: {} } } },
  { name: 'an unknown mode', spec: { podTemplate, operatingMode: 'Paused' } },
  { name: 'an unknown policy', spec: { podTemplate, shutdownPolicy: 'Forget' } },
  { name: 'a shutdown time that is none', spec: { podTemplate, shutdownTime: 'tomorrow' } },
  {
    name: 'a label that is no text',
    spec: { podTemplate: { ...podTemplate, metadata: { labels: { a: 1 } } } },
  },
  { name: 'a claim template without a spec', spec: { podTemplate, volumeClaimTemplates: [{}] } },
];

for (const { name, spec } of refused) {
  test(`${name} is refused`, () => assert.equal(sandboxSchema.safeParse({ spec }).success, false));
}
