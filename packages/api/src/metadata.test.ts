import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReservedAnnotation, isReservedLabel } from './metadata.ts';

const cases: { key: string; label: boolean; annotation: boolean }[] = [
  { key: 'agents.x-k8s.io/anything', label: true, annotation: true },
  { key: 'extensions.agents.x-k8s.io/anything', label: true, annotation: true },
  { key: 'opentelemetry.io/trace-context', label: false, annotation: true },
  { key: 'opentelemetry.io/other', label: false, annotation: false },
  { key: 'hutch.internal/runtime', label: false, annotation: false },
  { key: 'app', label: false, annotation: false },
];

for (const { key, label, annotation } of cases) {
  test(`${key} is ${label ? '' : 'not '}reserved as label, ${annotation ? '' : 'not '}as annotation`, () => {
    assert.deepEqual([isReservedLabel(key), isReservedAnnotation(key)], [label, annotation]);
  });
}
