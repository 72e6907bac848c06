import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, Fault, silentLog } from '@hutch/base';
import type { Secret } from '@hutch/kube-meta';
import { createKeyring, newKey, plannedKeys } from './keyring.ts';
import { memoryClient } from './test-rig.ts';

const start = new Date('2030-01-01T00:00:00Z');
const signal = new AbortController().signal;
const day = 24 * 3600 * 1000;
const after = (ms: number) => new Date(start.getTime() + ms);

function movableClock(): Clock & { at: Date } {
  return {
    at: start,
    now() {
      return this.at;
    },
    sleep: async () => {},
  };
}

function setUp() {
  const client = memoryClient();
  const clock = movableClock();
  return { client, clock, keyring: createKeyring({ client, clock, log: silentLog }) };
}

describe('the keyring', () => {
  test('creates the Secret when there is none, and finds its key again', async () => {
    const { keyring, client } = setUp();
    const key = await keyring.signing(signal);
    assert.equal(key.secret.length, 32);
    assert.ok(client.objects.has('agent-sandbox-system/hutch-router-keys'));
    assert.deepEqual(await keyring.find(key.id, signal), key.secret);
    assert.equal(await keyring.find('000000000000-00000000', signal), undefined);
  });

  test('uses what another router created at the same moment', async () => {
    const { client, clock } = setUp();
    const rings = Array.from({ length: 5 }, () => createKeyring({ client, clock, log: silentLog }));
    const keys = await Promise.all(rings.map((ring) => ring.signing(signal)));
    assert.equal(new Set(keys.map(({ id }) => id)).size, 1);
  });

  test('reads once for many who ask at once, and not again while fresh', async () => {
    const { keyring, client } = setUp();
    await Promise.all(Array.from({ length: 10 }, () => keyring.signing(signal)));
    const calls = client.calls;
    await keyring.signing(signal);
    assert.equal(client.calls, calls);
    assert.equal(calls, 1);
  });

  test('knows a key that another router added at first sight', async () => {
    const { keyring, client, clock } = setUp();
    await keyring.signing(signal);
    const other = newKey(after(1000));
    const name = 'agent-sandbox-system/hutch-router-keys';
    const secret = client.objects.get(name) as Secret;
    const data = { ...secret.data, [other.id]: Buffer.from(other.secret).toString('base64') };
    client.objects.set(name, { ...secret, data } as Secret);
    clock.at = after(2000);
    assert.deepEqual(await keyring.find(other.id, signal), Buffer.from(other.secret));
  });

  test('forgets a key within seconds of its removal', async () => {
    const { keyring, client, clock } = setUp();
    const key = await keyring.signing(signal);
    client.objects.clear();
    clock.at = after(6000);
    assert.equal(await keyring.find(key.id, signal), undefined);
  });

  test('goes on with known keys while the API is away, but not for ever', async () => {
    const { keyring, client, clock } = setUp();
    const key = await keyring.signing(signal);
    client.get = async () => {
      throw new Fault('unavailable', 'connect to the api');
    };
    clock.at = after(60_000);
    assert.deepEqual(await keyring.find(key.id, signal), key.secret);
    clock.at = after(600_000);
    await assert.rejects(keyring.find(key.id, signal), { code: 'unavailable' });
  });

  test('gives an old key a successor and lets both verify', async () => {
    const { keyring, clock } = setUp();
    const old = await keyring.signing(signal);
    clock.at = after(31 * day);
    const next = await keyring.signing(signal);
    assert.notEqual(next.id, old.id);
    assert.deepEqual(await keyring.find(old.id, signal), old.secret);
    clock.at = after(34 * day);
    await keyring.signing(signal);
    assert.equal(await keyring.find(old.id, signal), undefined, 'no token of the old key can still live');
  });
});

describe('the planned keys', () => {
  const [a, b] = [newKey(start), newKey(after(30 * day))];
  const made = newKey(after(90 * day));
  const cases: { name: string; known: (typeof a)[]; atMs: number; want: (typeof a)[] }[] = [
    { name: 'begin with one', known: [], atMs: 0, want: [made] },
    { name: 'stay while young', known: [a], atMs: 29 * day, want: [a] },
    { name: 'grow when the newest is old', known: [a], atMs: 30 * day, want: [a, made] },
    { name: 'overlap', known: [a, b], atMs: 31 * day, want: [a, b] },
    { name: 'shrink when the overlap is over', known: [a, b], atMs: 33 * day, want: [b] },
    { name: 'recover after a long sleep', known: [a, b], atMs: 80 * day, want: [b, made] },
  ];
  for (const { name, known, atMs, want } of cases) {
    test(name, () =>
      assert.deepEqual(
        plannedKeys(known, after(atMs), () => made),
        want,
      ),
    );
  }
});
