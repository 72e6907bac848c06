import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { interpreterOf } from './elf.ts';

test('the loader of the running program is named by its file', () => {
  const loader = interpreterOf(readFileSync(process.execPath).subarray(0, 64 * 1024));
  assert.ok(loader && existsSync(loader), String(loader));
});

test('what is no program is told as such', () => {
  assert.throws(() => interpreterOf(Buffer.from('#!/bin/sh\n')), /not a 64-bit/);
});
