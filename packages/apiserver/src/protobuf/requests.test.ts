/** Protobuf bodies on their way through the server. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Status } from '@hutch/kube-meta';
import { doors, furnish, widgets } from '../test-rig.ts';
import { protobufMediaType as contentType } from './envelope.ts';
import { bytes, enveloped, integer } from './test-wire.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const named = (name: string) => bytes(1, bytes(1, name));
const entry = (key: string, value: string) => bytes(2, bytes(1, key), bytes(2, value));

for (const { name: door, open } of doors) {
  describe(`protobuf bodies ${door}`, () => {
    test('an object is created and updated', async () => {
      await using rig = await open();
      await furnish(rig);
      const body = enveloped('v1', 'ConfigMap', named('a'), entry('k', 'v'));
      const created = await rig.call('POST', configMaps, { body, contentType });
      assert.equal(created.status, 201);
      assert.partialDeepStrictEqual(created.object, { metadata: { name: 'a' }, data: { k: 'v' } });
      const changed = enveloped('v1', 'ConfigMap', named('a'), entry('k', 'w'));
      const updated = await rig.call('PUT', `${configMaps}/a?fieldValidation=Strict`, {
        body: changed,
        contentType,
      });
      assert.equal(updated.status, 200);
      assert.deepEqual(updated.warnings, []);
      assert.partialDeepStrictEqual(updated.object, { data: { k: 'w' } });
    });

    test('a deletion takes its options', async () => {
      await using rig = await open();
      await furnish(rig);
      await rig.call('POST', configMaps, { body: enveloped('v1', 'ConfigMap', named('a')), contentType });
      const other = enveloped('v1', 'DeleteOptions', bytes(2, bytes(1, 'other-uid')));
      assert.equal((await rig.call('DELETE', `${configMaps}/a`, { body: other, contentType })).status, 409);
      const now = enveloped('v1', 'DeleteOptions', integer(1, 0));
      assert.equal((await rig.call('DELETE', `${configMaps}/a`, { body: now, contentType })).status, 200);
    });

    test('what cannot be read is refused as Kubernetes refuses it', async () => {
      await using rig = await open();
      await furnish(rig);
      const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap)';
      const notHandled = 'in version "v1" cannot be handled as a ConfigMap';
      const cases: readonly [body: Buffer, message: string][] = [
        [
          Buffer.from('nonsense'),
          `${unrecognized}: provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6e6f6e73656e7365)`,
        ],
        [Buffer.from('k8s\0'), `${unrecognized}: empty body (6b387300)`],
        [Buffer.from('k8s\0\x0a\x05'), `${unrecognized}: unexpected EOF (6b3873000a05)`],
        [enveloped('v1', 'ConfigMap', Buffer.from([10, 5])), `ConfigMap ${notHandled}: unexpected EOF`],
        [
          enveloped('v1', 'ConfigMap', integer(2, 1)),
          `ConfigMap ${notHandled}: proto: wrong wireType = 0 for field Data`,
        ],
        [
          enveloped('v1', 'Nonsense', named('a')),
          `Nonsense ${notHandled}: no kind "Nonsense" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`,
        ],
      ];
      for (const [body, message] of cases) {
        const { status, object } = await rig.call<Status>('POST', configMaps, { body, contentType });
        assert.deepEqual([status, object.message], [400, message]);
      }
    });

    test('custom kinds and patches do not come as protobuf', async () => {
      await using rig = await open();
      await furnish(rig);
      const body = enveloped('example.com/v1', 'Widget', named('a'));
      assert.equal((await rig.call('POST', widgets, { body, contentType })).status, 415);
      assert.equal((await rig.call('PATCH', `${configMaps}/a`, { body, contentType })).status, 415);
    });
  });
}
