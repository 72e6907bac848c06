import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '@hutch/base';
import fc from 'fast-check';
import { bytes, double, integer } from './test-wire.ts';
import { WireReader } from './wire.ts';

/** Reads one field of a message that knows none. */
function skipOne(hex: string): void {
  const reader = new WireReader(Buffer.from(hex, 'hex'));
  const { wireType } = reader.tag('Thing');
  reader.skip(wireType);
  assert.ok(reader.isDone);
}

const broken: readonly [name: string, hex: string, message: string][] = [
  ['a tag that is cut off', 'ff', 'unexpected EOF'],
  ['a tag of eleven bytes', 'ffffffffffffffffffff01', 'proto: integer overflow'],
  ['field zero', '00', 'proto: Thing: illegal tag 0 (wire type 0)'],
  [
    'a field number that is negative',
    '8080808040',
    'proto: Thing: illegal tag -2147483648 (wire type 17179869184)',
  ],
  ['a group that ends before it begins', '0c', 'proto: Thing: wiretype end group for non-group'],
  ['a shape that does not exist', '0e', 'proto: illegal wireType 6'],
  ['a number that is cut off', '0880', 'unexpected EOF'],
  ['four bytes that are three', '0d000000', 'unexpected EOF'],
  ['eight bytes that are seven', '0900000000000000', 'unexpected EOF'],
  ['more bytes than there are', '0a02ff', 'unexpected EOF'],
  ['a length of exabytes', '0affffffffffffffff7f', 'unexpected EOF'],
  ['a negative length', '0affffffffffffffffff01', 'proto: negative length found during unmarshaling'],
  ['a group without an end', '0b0b0b', 'unexpected EOF'],
];

for (const [name, hex, message] of broken) {
  test(`refuses ${name}`, () => {
    assert.throws(() => skipOne(hex), { code: 'invalid', message });
  });
}

const unknown: readonly [name: string, hex: string][] = [
  ['a number', '08ffffffffffffffffff01'],
  ['eight bytes', '090000000000000000'],
  ['four bytes', '0d00000000'],
  ['bytes', '0a0101'],
  ['nested groups', '0b0b080a0c120501020304050c'],
];

for (const [name, hex] of unknown) {
  test(`passes over ${name}`, () => skipOne(hex));
}

test('groups are passed over however deep they are', () => {
  skipOne('0b'.repeat(100_000) + '0c'.repeat(100_000));
});

test('numbers come as they were written', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.double(), (int, float) => {
      const reader = new WireReader(
        Buffer.concat([integer(1, int), integer(2, int), integer(3, int), double(4, float)]),
      );
      reader.tag('');
      assert.equal(reader.int64(), Number(int));
      reader.tag('');
      assert.equal(reader.int32(), Number(BigInt.asIntN(32, int)));
      reader.tag('');
      assert.equal(reader.bool(), int !== 0n);
      reader.tag('');
      assert.ok(Object.is(reader.double(), float));
      assert.ok(reader.isDone);
    }),
  );
});

test('a message ends where its length says', () => {
  const reader = new WireReader(Buffer.concat([bytes(1, bytes(2, 'ü')), integer(3, 4)]));
  assert.deepEqual(reader.tag(''), { number: 1, wireType: 2 });
  const inside = reader.message();
  assert.deepEqual(inside.tag(''), { number: 2, wireType: 2 });
  assert.equal(inside.text(), 'ü');
  assert.ok(inside.isDone);
  assert.deepEqual(reader.tag(''), { number: 3, wireType: 0 });
});

test('a message cannot reach beyond its end', () => {
  const reader = new WireReader(
    Buffer.concat([bytes(1, Buffer.from([0x12, 0x02, 0x41])), bytes(3, 'secret')]),
  );
  reader.tag('');
  const inside = reader.message();
  inside.tag('');
  assert.throws(() => inside.text(), { message: 'unexpected EOF' });
});

test('any bytes are passed over or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (given) => {
      const reader = new WireReader(Buffer.from(given));
      try {
        while (!reader.isDone) reader.skip(reader.tag('Thing').wireType);
      } catch (err) {
        assert.ok(isFault(err, 'invalid'), String(err));
      }
    }),
    { numRuns: 2_000 },
  );
});
