import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { authorityOf, isPodAddress, isSameAddress } from './pod-address.ts';

describe('a pod address', () => {
  for (const ip of ['10.0.0.5', '192.168.1.1', '8.8.8.8', '2001:db8::1', '::ffff:10.0.0.5']) {
    test(`may be ${ip}`, () => assert.ok(isPodAddress(ip)));
  }
  const refused = [
    '127.0.0.1',
    '127.10.20.30',
    '::1',
    '0.0.0.0',
    '::',
    '169.254.169.254',
    'fe80::1',
    'febf::1',
    '224.0.0.1',
    '239.255.255.250',
    'ff02::1',
    '10.0.0.256',
    '10.0.0.1:80',
    '[::1]',
    'not-an-ip',
    '',
    '2130706433',
    '0x7f.1',
    '127.1',
    '010.0.0.1',
    ' 10.0.0.1',
    '2001:db8::1%eth0',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::ffff:0:0',
  ];
  for (const ip of refused) test(`may not be ${ip || 'empty'}`, () => assert.ok(!isPodAddress(ip)));

  test('on loopback is allowed only where asked for, and nothing else with it', () => {
    assert.ok(isPodAddress('127.0.0.1', { allowLoopback: true }));
    assert.ok(isPodAddress('::1', { allowLoopback: true }));
    assert.ok(!isPodAddress('169.254.169.254', { allowLoopback: true }));
  });

  test('is the same however it is written', () => {
    assert.ok(isSameAddress('2001:db8::1', '2001:DB8:0:0:0:0:0:1'));
    assert.ok(isSameAddress('10.0.0.5', '::ffff:10.0.0.5'));
    assert.ok(!isSameAddress('10.0.0.5', '10.0.0.6'));
    assert.ok(!isSameAddress('10.0.0.5', 'x'));
  });

  test('is bracketed in an authority when it is IPv6', () => {
    assert.equal(authorityOf('10.0.0.5', 80), '10.0.0.5:80');
    assert.equal(authorityOf('2001:db8::1', 80), '[2001:db8::1]:80');
  });
});
