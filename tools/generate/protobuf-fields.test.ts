import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingSources } from './builtin-schemas.ts';
import { parseProtoMessages } from './proto-messages.ts';
import { driftedProtobufFields } from './protobuf-fields.ts';

test('messages are read with their fields, without what is said about them', () => {
  const source = `
/* message Gone { */
message Thing {
  // optional string gone = 9;
  // +optional
  optional string name = 1;

  repeated .k8s.io.api.core.v1.Volume volumes = 2;
  map<string, bytes> data = 30; // as it comes
  reserved 4;
}

message Empty {
}
`;
  assert.deepEqual(Object.fromEntries(parseProtoMessages(source)), {
    Thing: [
      { number: 1, name: 'name', type: 'string', shape: 'one' },
      { number: 2, name: 'volumes', type: '.k8s.io.api.core.v1.Volume', shape: 'list' },
      { number: 30, name: 'data', type: 'bytes', shape: 'map' },
    ],
    Empty: [],
  });
});

test('a line that is no field is an error', () => {
  assert.throws(
    () => parseProtoMessages('message Thing {\n  oneof x {\n}'),
    /not a field of a message: oneof x \{/,
  );
});

const skip = missingSources() ?? false;

test('the committed fields are those the definitions make (node tools/generate/protobuf-fields.ts)', {
  skip,
}, async () => {
  assert.deepEqual(await driftedProtobufFields(), []);
});
