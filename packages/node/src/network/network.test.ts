import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withMachineLock } from './machine-lock.ts';
import {
  connectedNetworks,
  freePrefix,
  homeNetworkPlan,
  ipNumber,
  parseRoutes,
  podNetworkPlan,
  podSlots,
  type Route,
  uplinksOf,
} from './plan.ts';
import {
  claimRuleset,
  closedRuleset,
  forwardingRuleset,
  isOwner,
  ownerComment,
  parseForwarding,
} from './ruleset.ts';
import { Slots } from './slots.ts';

const table = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
hutch1-2\t0201E70A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0
`;

test('routes are read from the kernel’s table', () => {
  const routes = parseRoutes(table);
  assert.deepEqual(uplinksOf(routes), ['eth0']);
  assert.deepEqual(connectedNetworks(routes), ['192.0.2.0/24']);
});

test('any text is a list of routes', () => {
  fc.assert(fc.property(fc.string(), (text) => Array.isArray(parseRoutes(text))));
});

const route = (destination: string, mask: string): Route => ({
  device: 'eth1',
  destination: ipNumber(destination),
  gateway: 0,
  mask: ipNumber(mask),
});

const prefixes: { name: string; routes: Route[]; want: string | undefined }[] = [
  { name: 'the first range when nothing is in the way', routes: [], want: '10.231.7' },
  { name: 'the default route is in nobody’s way', routes: [route('0.0.0.0', '0.0.0.0')], want: '10.231.7' },
  {
    name: 'a neighbour network elsewhere does not matter',
    routes: [route('10.231.8.0', '255.255.255.0')],
    want: '10.231.7',
  },
  { name: 'a wide route moves us on', routes: [route('10.0.0.0', '255.0.0.0')], want: '172.29.7' },
  {
    name: 'one address inside is enough',
    routes: [route('10.231.7.9', '255.255.255.255')],
    want: '172.29.7',
  },
  {
    name: 'no room at all',
    routes: [
      route('10.0.0.0', '255.0.0.0'),
      route('172.16.0.0', '255.240.0.0'),
      route('192.168.0.0', '255.255.0.0'),
    ],
    want: undefined,
  },
];

for (const { name, routes, want } of prefixes) {
  test(`where a home lives: ${name}`, () => assert.equal(freePrefix(7, routes), want));
}

test('names and addresses of pods are distinct and fit the kernel’s limits', () => {
  const home = homeNetworkPlan(254, '10.231.254');
  const plans = podSlots().map((slot) => podNetworkPlan(home, slot));
  for (const key of ['ip', 'link', 'podMac'] as const) {
    assert.equal(new Set(plans.map((plan) => plan[key])).size, plans.length);
  }
  assert.ok(plans.every(({ link, ip }) => link.length <= 15 && ip !== home.hostIp));
});

test('an address that was given back is not the next one given out', () => {
  const slots = new Slots();
  slots.keep([2, 3]);
  const first = slots.take();
  slots.give(first);
  assert.equal(first, 4);
  assert.equal(slots.take(), 5);
  slots.give(5);
  slots.give(5);
});

test('when all addresses are out the next pod is told so', () => {
  const slots = new Slots();
  slots.keep(podSlots());
  assert.throws(() => slots.take(), { code: 'unavailable' });
});

const home = homeNetworkPlan(7, '10.231.7');
const rules = claimRuleset({ home, owner: '/data/x', connected: ['192.0.2.0/24'], uid: 0 });

test('claiming an index creates its table and fails if there is one', () => {
  assert.match(
    rules,
    /^create table inet hutch-7 \{ comment "[0-9a-f]{32} \/data\/x"; \}\ntable inet hutch-7 \{\n/,
  );
});

for (const rule of [
  'iifname "hutch7-*" iifname . ip saddr != @addresses drop',
  'iifname "hutch7-*" meta nfproto != ipv4 drop',
  'iifname "hutch7-*" oifname "hutch*" drop',
  'iifname "hutch7-*" ip daddr @closed drop',
  'oifname "hutch7-*" ct state new meta skuid != 0 drop',
  'oifname != "hutch7-*" oifname != "lo" ip daddr 10.231.7.0/24 reject',
  'ip saddr 10.231.7.0/24 oifname != "hutch*" masquerade',
]) {
  test(`the rules of a home hold: ${rule}`, () => assert.ok(rules.includes(rule)));
}

test('private networks and the machine’s own are closed', () => {
  for (const network of ['10.0.0.0/8', '169.254.0.0/16', '192.0.2.0/24']) assert.ok(rules.includes(network));
  assert.ok(
    closedRuleset('hutch-7', ['192.0.2.0/24']).startsWith('flush set inet hutch-7 closed\nadd element'),
  );
});

test('every slot may only speak with its own address', () => {
  assert.ok(rules.includes('"hutch7-2" . 10.231.7.2'));
  assert.ok(rules.includes('"hutch7-254" . 10.231.7.254'));
});

test('an owner can neither break out of its comment nor outgrow it', () => {
  const unit = fc.constantFrom('grapheme', 'binary', 'grapheme-ascii');
  const paths = unit.chain((kind) => fc.string({ unit: kind, maxLength: 300 }));
  fc.assert(fc.property(paths, (owner) => /^[0-9a-f]{32} [\w./-]{0,80}$/.test(ownerComment(owner))));
});

const tail = `/${'x'.repeat(200)}/runs/1`;
for (const { name, one, other } of [
  { name: 'paths that end the same', one: `/a${tail}`, other: `/b${tail}` },
  { name: 'paths that look the same in a comment', one: '/data/ä', other: '/data/ö' },
]) {
  test(`owners are told apart: ${name}`, () => {
    assert.ok(isOwner(ownerComment(one), one));
    assert.ok(!isOwner(ownerComment(one), other));
  });
}

test('a comment that is not ours has no owner', () => {
  for (const comment of ['', '/data/x', 'x y z']) assert.ok(!isOwner(comment, '/data/x'));
});

test('which uplinks we opened is read back from the table that remembers them', () => {
  const listing =
    'table inet hutch-forwarding {\n\tset uplinks {\n\t\ttype ifname\n\t\telements = { "eth0",\n\t\t\t     "wlan0" }\n\t}\n}';
  assert.deepEqual(parseForwarding(listing), ['eth0', 'wlan0']);
  assert.ok(forwardingRuleset(['eth0']).includes('iifname @uplinks oifname != "hutch*" drop'));
});

test('the machine lock lets one in at a time, in no one’s absence', async () => {
  const name = `test-${process.pid}`;
  let inside = 0;
  let most = 0;
  const enter = () =>
    withMachineLock(name, 5_000, async () => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
    });
  await Promise.all(Array.from({ length: 8 }, enter));
  assert.equal(most, 1);
});

test('the machine lock gives up in time when somebody sits on it', async () => {
  const name = `held-${process.pid}`;
  await withMachineLock(name, 5_000, async () => {
    await assert.rejects(
      withMachineLock(name, 20, async () => {}),
      { code: 'timeout' },
    );
  });
});

test('a failure under the machine lock lets go of it', async () => {
  const name = `fails-${process.pid}`;
  await assert.rejects(
    withMachineLock(name, 5_000, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await withMachineLock(name, 5_000, async () => 1), 1);
});
