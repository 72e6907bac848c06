import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

test('however a text is cut into chunks, its lines come out whole', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(400)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const splitter = new LineSplitter(1_000_000);
      const got = edges.slice(1).flatMap((end, i) => [...splitter.push(bytes.subarray(edges[i], end))]);
      assert.deepEqual(got, lines);
      assert.equal(splitter.isInsideLine, false);
    }),
  );
});

test('an unfinished line is noticed', () => {
  const splitter = new LineSplitter(100);
  assert.deepEqual([...splitter.push(Buffer.from('a\nb'))], ['a']);
  assert.equal(splitter.isInsideLine, true);
});

test('a line beyond the limit is refused even if it never ends', () => {
  const splitter = new LineSplitter(4);
  assert.deepEqual([...splitter.push(Buffer.from('abcd\nab'))], ['abcd']);
  assert.throws(() => [...splitter.push(Buffer.from('cde'))], { code: 'too-large' });
});
