import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostMounts, type Machine, parseMountPoints, planHostRoot, wantedFromEtc } from './host-plan.ts';

const machine: Machine = {
  top: [
    { type: 'link', path: '/bin', target: 'usr/bin' },
    { type: 'directory', path: '/lib' },
  ],
  etc: [
    { type: 'file', path: '/etc/ld.so.cache', mode: 0o100644 },
    { type: 'file', path: '/etc/services', mode: 0o100600 },
    { type: 'file', path: '/etc/ssl/certs/ca-certificates.crt', mode: 0o100644 },
    { type: 'link', path: '/etc/localtime', target: '/usr/share/zoneinfo/UTC' },
  ],
};

const plan = planHostRoot(machine);
const byPath = new Map(plan.map((entry) => [entry.path, entry]));

test('the skeleton has parents before children', () => {
  const seen = new Set(['']);
  for (const { path } of plan) {
    assert.ok(seen.has(path.split('/').slice(0, -1).join('/')), `${path} comes before its parent`);
    seen.add(path);
  }
});

test('links and directories at the top follow the machine', () => {
  assert.deepEqual(byPath.get('bin'), { type: 'link', path: 'bin', target: 'usr/bin' });
  assert.equal(byPath.get('lib')?.type, 'directory');
});

test('a file that not everyone on the machine may read is left out', () => {
  assert.equal(byPath.get('etc/services'), undefined);
  assert.equal(byPath.get('etc/ld.so.cache')?.type, 'copy');
});

test('accounts are generated, never the machine’s own', () => {
  const passwd = byPath.get('etc/passwd');
  assert.ok(passwd?.type === 'text' && passwd.text.includes('sandbox:x:1000:1000'));
  assert.equal(byPath.get('etc/shadow'), undefined);
});

test('the places a plain user writes to are its own or open', () => {
  assert.deepEqual(byPath.get('workspace'), {
    type: 'directory',
    path: 'workspace',
    mode: 0o755,
    owner: 1000,
  });
  assert.deepEqual(byPath.get('tmp'), { type: 'directory', path: 'tmp', mode: 0o1777, owner: 0 });
});

test('nothing wanted from /etc is known to hold secrets', () => {
  const secret = /shadow|ssh|sudoers|private|gitconfig|machine-id|kubernetes|docker|krb5|wpa|NetworkManager/;
  for (const name of wantedFromEtc) assert.ok(!secret.test(name), name);
});

const mountCases: { name: string; points: string[]; want: string[] }[] = [
  { name: 'alone on a plain machine', points: ['/', '/home'], want: [] },
  { name: 'with a file system below it', points: ['/', '/usr/src'], want: ['/usr/src'] },
  {
    name: 'with one below another, outer first',
    points: ['/usr/src/linux', '/usr/src', '/lib/modules'],
    want: ['/lib/modules', '/usr/src', '/usr/src/linux'],
  },
  { name: 'with one that was mounted over', points: ['/usr/src', '/usr/src'], want: ['/usr/src'] },
  { name: 'without what only begins like it', points: ['/usrlocal', '/library'], want: [] },
];

for (const { name, points, want } of mountCases) {
  test(`the tool chain is mounted read-only, no set-user-id, no devices: ${name}`, () => {
    const mounts = hostMounts(machine, points);
    assert.deepEqual(
      mounts.map(({ destination }) => destination),
      ['/usr', '/lib', ...want],
    );
    for (const { options } of mounts) {
      for (const option of ['ro', 'nosuid', 'nodev']) assert.ok(options.includes(option));
    }
  });
}

test('mount points are read with their escapes undone', () => {
  const text = '22 27 0:21 / /proc rw - proc proc rw\n28 27 0:25 / /mnt/a\\040b ro - tmpfs x ro\n';
  assert.deepEqual(parseMountPoints(text), ['/proc', '/mnt/a b']);
});
