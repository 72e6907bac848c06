import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aContainer, anImage, aPod } from '../test-objects.ts';
import { desiredArgs, desiredEnvironment, expand } from './environment.ts';
import { desiredEtcFiles, publicNameservers } from './etc-files.ts';

const variables = new Map([['NAME', 'value']]);

const expansions: [text: string, want: string][] = [
  ['plain', 'plain'],
  ['$(NAME)', 'value'],
  ['a$(NAME)b$(NAME)', 'avaluebvalue'],
  ['$(OTHER)', '$(OTHER)'],
  ['$$(NAME)', '$(NAME)'],
  ['$$$(NAME)', '$value'],
  ['$(NAME', '$(NAME'],
  ['cost: 5$', 'cost: 5$'],
];

for (const [text, want] of expansions) {
  test(`${text} becomes ${want}`, () => assert.equal(expand(text, variables), want));
}

test('text without a dollar is never changed', () => {
  fc.assert(fc.property(fc.string(), (text) => text.includes('$') || expand(text, variables) === text));
});

const addresses = { podIp: '10.231.1.2', hostIp: '192.0.2.2' };

test('later variables see earlier ones, and fields of the pod', () => {
  const env = [
    { name: 'PATH', value: '/opt:$(PATH)' },
    { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'URL', value: 'http://$(IP)' },
    { name: 'LABEL', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
  ];
  const pod = aPod({}, { labels: { app: 'x' } });
  assert.deepEqual(Object.fromEntries(desiredEnvironment(pod, aContainer({ env }), anImage(), addresses)), {
    PATH: '/opt:/usr/bin',
    HOSTNAME: 'box',
    IP: '10.231.1.2',
    URL: 'http://10.231.1.2',
    LABEL: 'x',
  });
});

const image = anImage({ entrypoint: ['entry'], command: ['default'] });
const commands: { name: string; container: object; want: string[] }[] = [
  { name: 'nothing named: the image’s own', container: {}, want: ['entry', 'default'] },
  { name: 'arguments replace the image’s', container: { args: ['a'] }, want: ['entry', 'a'] },
  { name: 'a command replaces both', container: { command: ['c'] }, want: ['c'] },
  { name: 'both', container: { command: ['c'], args: ['$(NAME)'] }, want: ['c', 'value'] },
];

for (const { name, container, want } of commands) {
  test(`what a container runs: ${name}`, () => {
    assert.deepEqual(desiredArgs(aContainer(container), image, variables), want);
  });
}

test('a container without any command is refused', () => {
  const bare = anImage({ entrypoint: [], command: [] });
  assert.throws(() => desiredArgs(aContainer(), bare, variables), { code: 'invalid' });
});

test('a pod finds itself, its aliases and its name servers in /etc', () => {
  const pod = aPod({
    hostAliases: [{ ip: '203.0.113.1', hostnames: ['db', 'db.example'] }],
    dnsConfig: { searches: ['example'], options: [{ name: 'ndots', value: '2' }] },
  });
  const files = desiredEtcFiles(pod, '10.231.1.2', ['8.8.8.8']);
  assert.ok(files['etc/hosts']?.includes('10.231.1.2\tbox\n203.0.113.1\tdb\tdb.example\n'));
  assert.equal(files['etc/resolv.conf'], 'nameserver 8.8.8.8\nsearch example\noptions ndots:2\n');
});

test('only public name servers are of use to a pod', () => {
  const text =
    'nameserver 127.0.0.53\nnameserver 10.0.0.1\n# nameserver 1.2.3.4\nnameserver fd00::1\nnameserver 9.9.9.9\n';
  assert.deepEqual(publicNameservers(text), ['9.9.9.9']);
});
