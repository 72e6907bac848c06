import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownTable, summarise } from './stats.ts';

test('percentiles are values that were measured, by nearest rank', () => {
  const samples = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.deepEqual(summarise(samples), { n: 100, min: 1, p50: 50, p90: 90, p99: 99, max: 100 });
  assert.deepEqual(summarise([7]), { n: 1, min: 7, p50: 7, p90: 7, p99: 7, max: 7 });
});

test('a table is Markdown', () => {
  assert.equal(markdownTable(['a', 'b'], [['1', '2']]), '| a | b |\n| --- | --- |\n| 1 | 2 |\n');
});
