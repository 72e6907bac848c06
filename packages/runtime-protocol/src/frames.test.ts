import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFrame, type Frame, FrameDecoder, maxFrameBytes } from './frames.ts';

const offset = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const data = fc.uint8Array({ maxLength: 200 });

const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ type: fc.constantFrom('stdout' as const, 'stderr' as const), offset, data }),
  fc.record({
    type: fc.constant('started' as const),
    process: fc.record({ id: fc.string(), pid: fc.nat() }),
  }),
  fc.record({ type: fc.constant('exited' as const), exit: fc.record({ exitCode: fc.nat({ max: 255 }) }) }),
  fc.record({
    type: fc.constant('failed' as const),
    failure: fc.record({ reason: fc.constant('not-found' as const), message: fc.string() }),
  }),
  fc.constant({ type: 'alive' as const }),
);

function joined(frames: readonly Frame[]): Uint8Array {
  return Buffer.concat(frames.map(encodeFrame));
}

/** Without typed arrays and null prototypes, which compare as different though they say the same. */
function plain(frame: Frame): unknown {
  return JSON.parse(JSON.stringify('data' in frame ? { ...frame, data: [...frame.data] } : frame));
}

test('frames come back the same however their bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(anyFrame, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 50 })),
      (frames, cuts) => {
        const decoder = new FrameDecoder();
        const bytes = joined(frames);
        const back: unknown[] = [];
        let at = 0;
        for (const step of [...cuts, bytes.length]) {
          for (const frame of decoder.decode(bytes.slice(at, at + step))) back.push(plain(frame));
          at += step;
        }
        assert.deepEqual(back, frames.map(plain));
        assert.ok(decoder.isAtBoundary);
      },
    ),
  );
});

test('a decoder says when the bytes end inside a frame', () => {
  const decoder = new FrameDecoder();
  const bytes = encodeFrame({ type: 'stdout', offset: 3, data: new Uint8Array(10) });
  assert.deepEqual([...decoder.decode(bytes.subarray(0, 20))], []);
  assert.equal(decoder.isAtBoundary, false);
});

test('arbitrary bytes end in frames or in an invalid fault, never in another error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      try {
        for (const frame of new FrameDecoder().decode(bytes)) assert.ok(frame.type);
      } catch (err) {
        assert.equal((err as { code?: string }).code, 'invalid');
      }
    }),
  );
});

test('a frame that announces more than the limit is refused before its payload arrives', () => {
  const header = new Uint8Array(13);
  header[0] = 1;
  new DataView(header.buffer).setUint32(9, maxFrameBytes + 1);
  assert.throws(() => [...new FrameDecoder().decode(header)], { code: 'invalid' });
});

test('the package imports no node module', () => {
  for (const file of readdirSync(import.meta.dirname).filter((name) => !name.endsWith('.test.ts'))) {
    assert.doesNotMatch(readFileSync(`${import.meta.dirname}/${file}`, 'utf8'), /from 'node:/, file);
  }
});
