/** For this folder's tests: writes protobuf by hand, a field at a time. */
function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

function tag(number: number, wireType: number): Buffer {
  return varint((number << 3) | wireType);
}

export function integer(number: number, value: number | bigint): Buffer {
  return Buffer.concat([tag(number, 0), varint(value)]);
}

export function double(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(number, 1), bytes]);
}

/** Text, or a message made of its fields. */
export function bytes(number: number, ...parts: (string | Buffer)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([tag(number, 2), varint(content.length), content]);
}

export function enveloped(apiVersion: string, kind: string, ...fields: Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from('k8s\0'),
    bytes(1, bytes(1, apiVersion), bytes(2, kind)),
    bytes(2, ...fields),
    bytes(3, ''),
    bytes(4, ''),
  ]);
}
