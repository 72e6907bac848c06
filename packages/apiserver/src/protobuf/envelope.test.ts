import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectIn, openEnvelope } from './envelope.ts';
import { bytes, enveloped, integer } from './test-wire.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
const named = bytes(1, bytes(1, 'a'));

test('an object tells what it is', () => {
  const body = enveloped('v1', 'ConfigMap', named, bytes(2, bytes(1, 'k'), bytes(2, 'v')));
  assert.deepEqual(objectIn(openEnvelope(body), configMap), {
    ...configMap,
    metadata: { name: 'a' },
    data: { k: 'v' },
  });
});

test('an object that does not tell is what is wanted', () => {
  for (const body of [
    enveloped('', '', named),
    enveloped('v1', '', named),
    enveloped('', 'ConfigMap', named),
  ]) {
    assert.deepEqual(objectIn(openEnvelope(body), configMap), { ...configMap, metadata: { name: 'a' } });
  }
});

test('of a kind that nobody knows only the name is read', () => {
  const body = enveloped('v1', 'Nonsense', Buffer.from([0xff]));
  assert.deepEqual(objectIn(openEnvelope(body), configMap), { apiVersion: 'v1', kind: 'Nonsense' });
});

test('options of a deletion are the same in every group', () => {
  const wanted = { apiVersion: 'v1', kind: 'DeleteOptions' };
  for (const apiVersion of ['v1', 'networking.k8s.io/v1', 'example.com/v1']) {
    const body = enveloped(apiVersion, 'DeleteOptions', integer(1, 0), bytes(4, 'Orphan'), bytes(5, 'All'));
    assert.deepEqual(objectIn(openEnvelope(body), wanted), {
      apiVersion,
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      propagationPolicy: 'Orphan',
      dryRun: ['All'],
    });
  }
});

const refused: readonly [name: string, body: Buffer, message: string][] = [
  ['nothing', Buffer.alloc(0), 'empty data'],
  [
    'JSON',
    Buffer.from('{}'),
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
  ],
  ['a prefix alone', Buffer.from('k8s\0'), 'empty body'],
  ['a broken envelope', Buffer.from('k8s\0\x0a\x05'), 'unexpected EOF'],
  [
    'a kind that is a number',
    Buffer.from('k8s\0\x0a\x02\x10\x01'),
    'proto: wrong wireType = 0 for field Kind',
  ],
  ['an object that is a number', Buffer.from('k8s\0\x10\x01'), 'proto: wrong wireType = 0 for field Raw'],
];

for (const [name, body, message] of refused) {
  test(`refuses ${name}`, () => {
    assert.throws(() => openEnvelope(body), { code: 'invalid', message });
  });
}
