import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as sdk from './index.ts';

test('the surface is what programs depend on', () => {
  assert.deepEqual(Object.keys(sdk).sort(), ['CommandNotStarted', 'Hutch', 'Refused', 'SandboxFailed']);
});

test('nothing but tests needs node', () => {
  const isShipped = (name: string) => name.endsWith('.ts') && !/\.test\.ts$|^test-rig\.ts$/.test(name);
  for (const name of readdirSync(import.meta.dirname).filter(isShipped)) {
    assert.doesNotMatch(readFileSync(`${import.meta.dirname}/${name}`, 'utf8'), /'node:/, name);
  }
});
