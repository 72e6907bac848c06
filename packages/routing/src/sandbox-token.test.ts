import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { keyIdOf, type SigningKey, signToken, type TokenClaims, verifyToken } from './sandbox-token.ts';

const now = new Date('2030-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;
const key: SigningKey = { id: 'k1', secret: Buffer.from('0123456789abcdef0123456789abcdef') };
const claims: TokenClaims = {
  namespace: 'default',
  name: 'box-a',
  uid: 'u-1',
  claimUid: 'c-1',
  expiresAt: seconds + 60,
};
const signed = (payload: unknown) => {
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `hutch1.${text}.${signToken(claims, key).split('.')[2]}`;
};

describe('a sandbox token', () => {
  test('keeps its form, so that tokens outlive an upgrade of the router', () => {
    assert.equal(
      signToken(claims, key),
      'hutch1.eyJraWQiOiJrMSIsIm5zIjoiZGVmYXVsdCIsIm5hbWUiOiJib3gtYSIsInVpZCI6InUtMSIsImNsYWltIjoiYy0xIiwiZXhwIjoxODkzNDU2MDYwfQ.PaUyBHmf3OJPutjA86GJruFsYWo8cxTfezhk_l3M9CI',
    );
    assert.equal(keyIdOf(signToken(claims, key)), 'k1');
  });

  const cases: { name: string; token: string; secret?: Uint8Array; at?: Date; want: string }[] = [
    { name: 'is valid with its key and in time', token: signToken(claims, key), want: 'valid' },
    {
      name: 'is valid without a claim',
      token: signToken({ ...claims, claimUid: undefined }, key),
      want: 'valid',
    },
    {
      name: 'is over at its very second',
      token: signToken(claims, key),
      at: new Date((seconds + 60) * 1000),
      want: 'expired',
    },
    {
      name: 'needs its own key',
      token: signToken(claims, key),
      secret: Buffer.alloc(32),
      want: 'bad-signature',
    },
    {
      name: 'of another version is none',
      token: signToken(claims, key).replace('hutch1', 'hutch2'),
      want: 'malformed',
    },
    {
      name: 'without a signature is none',
      token: signToken(claims, key).split('.').slice(0, 2).join('.'),
      want: 'malformed',
    },
    { name: 'with a fourth part is none', token: `${signToken(claims, key)}.x`, want: 'malformed' },
    { name: 'with padding is none', token: `${signToken(claims, key)}=`, want: 'malformed' },
    {
      name: 'without an expiry is none',
      token: signed({ kid: 'k1', ns: 'a', name: 'b', uid: 'c' }),
      want: 'malformed',
    },
    { name: 'that is a list is none', token: signed([]), want: 'malformed' },
    { name: 'that is null is none', token: signed(null), want: 'malformed' },
    {
      name: 'that is too long is none',
      token: `${signToken(claims, key)}${'A'.repeat(4096)}`,
      want: 'malformed',
    },
    {
      name: 'with new claims under an old signature is refused',
      token: signed({ kid: 'k1', ns: 'a', name: 'b', uid: 'c', exp: seconds + 60 }),
      want: 'bad-signature',
    },
  ];
  for (const { name, token, secret = key.secret, at = now, want } of cases) {
    test(name, () => assert.equal(verifyToken(token, secret, at).outcome, want));
  }

  test('of a key we do not have is refused', () => {
    assert.equal(verifyToken(signToken(claims, key), undefined, now).outcome, 'unknown-key');
  });

  test('gives back exactly what was signed', () => {
    const text = fc.string({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(text, text, text, fc.option(text, { nil: undefined }), (namespace, name, uid, claimUid) => {
        const wanted = { namespace, name, uid, claimUid, expiresAt: seconds + 1 };
        const verification = verifyToken(signToken(wanted, key), key.secret, now);
        assert.deepEqual(verification, { outcome: 'valid', claims: wanted });
      }),
    );
  });

  test('changed in any character is never valid', () => {
    const token = signToken(claims, key);
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.string({ minLength: 0, maxLength: 2 }), (at, put) => {
        const changed = token.slice(0, at) + put + token.slice(at + 1);
        fc.pre(changed !== token);
        assert.notEqual(verifyToken(changed, key.secret, now).outcome, 'valid');
      }),
      { numRuns: 2000 },
    );
  });

  test('cannot be made of any bytes without the key', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.notEqual(verifyToken(text, key.secret, now).outcome, 'valid');
        assert.notEqual(verifyToken(`hutch1.${text}`, key.secret, now).outcome, 'valid');
      }),
    );
  });
});
