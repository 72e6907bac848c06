import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBlocks, npmScripts, transcript } from './commands.ts';

test('code blocks are found with their language', () => {
  const text = 'a\n```sh\none\ntwo\n```\nb\n```ts\nthree\n```\n';
  assert.deepEqual(codeBlocks(text), [
    { language: 'sh', text: 'one\ntwo\n' },
    { language: 'ts', text: 'three\n' },
  ]);
});

test('a transcript pairs commands with what they print', () => {
  assert.deepEqual(transcript('$ a b\nx\ny\n$ c\n'), [
    { command: 'a b', output: 'x\ny\n' },
    { command: 'c', output: '' },
  ]);
});

test('npm scripts are named once', () => {
  assert.deepEqual(npmScripts('`npm run a:b`, npm run a:b, npm test'), ['a:b', 'test']);
});
