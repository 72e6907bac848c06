import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OutputWindow } from './output-window.ts';

const capacity = 200_000;

function contents(window: OutputWindow): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = window.start; at < window.end; ) {
    const bytes = window.read(at, 1000);
    parts.push(bytes.slice());
    at += bytes.length;
  }
  return Buffer.concat(parts);
}

test('what is kept is the end of what was written, in bounded memory, and never less than the floor allows', () => {
  const step = fc.record({
    bytes: fc.uint8Array({ maxLength: 90_000 }),
    readUpTo: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const window = new OutputWindow(capacity);
      let all = Buffer.alloc(0);
      let floor = 0;
      for (const { bytes, readUpTo } of steps) {
        window.append(bytes);
        all = Buffer.concat([all, bytes]);
        assert.ok(window.start <= floor, 'bytes above the floor are kept');
        assert.ok(contents(window).equals(all.subarray(window.start)));
        floor = Math.max(window.start, Math.floor(all.length * readUpTo));
        window.setFloor(floor);
        assert.equal(window.isFull, window.end - floor >= capacity);
        assert.ok(window.heldBytes <= Math.max(capacity, window.end - floor) + 64 * 1024);
      }
    }),
  );
});

test('single bytes cost no more than large pieces', () => {
  const window = new OutputWindow(capacity);
  for (let at = 0; at < 3 * capacity; at++) {
    window.append(Uint8Array.of(at % 251));
    window.setFloor(at + 1);
  }
  assert.ok(window.heldBytes >= capacity && window.heldBytes <= capacity + 64 * 1024);
  assert.equal(window.read(window.start, 1)[0], window.start % 251);
});

test('after hold nothing is dropped and the window counts from its start', () => {
  const window = new OutputWindow(10);
  window.append(new Uint8Array(8));
  window.setFloor(8);
  assert.equal(window.isFull, false);
  window.append(new Uint8Array(4));
  window.hold();
  assert.equal(window.isFull, true);
  assert.equal(window.start, 0);
});

test('reading outside the window is an error, reading at its end is empty', () => {
  const window = new OutputWindow(10);
  assert.equal(window.read(0, 5).length, 0);
  window.append(Uint8Array.of(1, 2, 3));
  assert.equal(window.read(3, 5).length, 0);
  assert.throws(() => window.read(4, 1), RangeError);
});
