import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDnsLabel, readSandboxAddress } from './sandbox-address.ts';

describe('a DNS label', () => {
  for (const text of ['a', '1abc', 'my-ns-1', 'a'.repeat(63)]) {
    test(`may be ${text.slice(0, 20)}`, () => assert.ok(isDnsLabel(text)));
  }
  for (const text of [
    '',
    '-',
    '---',
    '-x',
    'x-',
    'MY-NS',
    'my_ns',
    'my.ns',
    'foo/bar',
    'foo.evil.com',
    'ä',
    'a\n',
    'a'.repeat(64),
  ]) {
    test(`may not be ${JSON.stringify(text.slice(0, 20))}`, () => assert.ok(!isDnsLabel(text)));
  }
});

const id = { 'x-sandbox-id': 'a' };

describe('routing headers', () => {
  test('default to namespace default and the port of the runtime', () => {
    assert.deepEqual(readSandboxAddress(id), {
      namespace: 'default',
      name: 'a',
      port: 8888,
      podIp: undefined,
      uid: undefined,
    });
  });

  test('that are empty count as absent', () => {
    const headers = {
      ...id,
      'x-sandbox-namespace': '',
      'x-sandbox-port': '',
      'x-sandbox-pod-ip': '',
      'x-sandbox-uid': '',
    };
    assert.deepEqual(readSandboxAddress(headers), readSandboxAddress(id));
  });

  const refused: { name: string; headers: Record<string, string>; detail: string }[] = [
    { name: 'no id', headers: {}, detail: 'X-Sandbox-ID header is required.' },
    { name: 'an empty id', headers: { 'x-sandbox-id': '' }, detail: 'X-Sandbox-ID header is required.' },
    { name: 'a bad id', headers: { 'x-sandbox-id': 'A' }, detail: 'Invalid sandbox ID format.' },
    { name: 'two ids', headers: { 'x-sandbox-id': 'a, b' }, detail: 'Invalid sandbox ID format.' },
    {
      name: 'a bad namespace',
      headers: { ...id, 'x-sandbox-namespace': 'x.y' },
      detail: 'Invalid namespace format.',
    },
    { name: 'port 0', headers: { ...id, 'x-sandbox-port': '0' }, detail: 'Invalid port format.' },
    { name: 'port 65536', headers: { ...id, 'x-sandbox-port': '65536' }, detail: 'Invalid port format.' },
    { name: 'a negative port', headers: { ...id, 'x-sandbox-port': '-1' }, detail: 'Invalid port format.' },
    {
      name: 'a port with a space',
      headers: { ...id, 'x-sandbox-port': '80 80' },
      detail: 'Invalid port format.',
    },
    {
      name: 'a hexadecimal port',
      headers: { ...id, 'x-sandbox-port': '0x50' },
      detail: 'Invalid port format.',
    },
    {
      name: 'a bad address',
      headers: { ...id, 'x-sandbox-pod-ip': 'not-an-ip' },
      detail: 'Invalid target IP address.',
    },
    {
      name: 'the id before the namespace',
      headers: {
        'x-sandbox-id': '_',
        'x-sandbox-namespace': '_',
        'x-sandbox-port': '_',
        'x-sandbox-pod-ip': '_',
      },
      detail: 'Invalid sandbox ID format.',
    },
    {
      name: 'the namespace before the port',
      headers: { ...id, 'x-sandbox-namespace': '_', 'x-sandbox-port': '_', 'x-sandbox-pod-ip': '_' },
      detail: 'Invalid namespace format.',
    },
    {
      name: 'the port before the address',
      headers: { ...id, 'x-sandbox-port': '_', 'x-sandbox-pod-ip': '_' },
      detail: 'Invalid port format.',
    },
  ];
  for (const { name, headers, detail } of refused) {
    test(`refuse ${name}`, () => {
      assert.throws(() => readSandboxAddress(headers), { status: 400, message: detail });
    });
  }

  test('accept a signed port, as the original router does', () => {
    assert.equal(readSandboxAddress({ ...id, 'x-sandbox-port': '+8080' }).port, 8080);
  });
});
