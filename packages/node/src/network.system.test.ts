/**
 * What a pod can reach, tried with real packets. The rest of the world is a network namespace of the test's own; no
 * packet leaves the machine. Needs root.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '@hutch/kube-meta';
import { requireTools, runCommand } from './command.ts';
import { readIfPresent } from './files.ts';
import { claimedIndexes } from './network/home-network.ts';
import { isReady, script, TestHome } from './test-home.ts';
import { aContainer } from './test-objects.ts';

const tools = requireTools();
const world = {
  link: `wt${process.pid}`.slice(0, 15),
  hostIp: '10.99.77.1',
  privateIp: '10.99.77.2',
  /** From the documentation range, routed to the test's own namespace. */
  publicIp: '203.0.113.7',
  /** Where clouds keep their metadata services, also routed to the test's own namespace. */
  linkLocalIp: '169.254.77.77',
} as const;

/** A process holds the namespace and serves in it; both go with it. */
async function openWorld(): Promise<AsyncDisposable> {
  const { spawn } = await import('node:child_process');
  const child = spawn(tools.unshare, ['--net', '/usr/bin/python3', '-u', '-c', worldProgram], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const says = (text: string) =>
    new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes(text)) resolve();
      }),
    );
  await says('unshared');
  await runCommand(tools.ip, ['-batch', '-'], {
    input: `link add ${world.link} type veth peer name up0 netns ${child.pid}
addr add ${world.hostIp}/24 dev ${world.link}
link set ${world.link} up
route add ${world.publicIp}/32 via ${world.privateIp}
route add ${world.linkLocalIp}/32 via ${world.privateIp}
`,
  });
  await runCommand(tools.nsenter, [`--net=/proc/${child.pid}/ns/net`, tools.ip, '-batch', '-'], {
    input: `link set lo up
addr add ${world.privateIp}/24 dev up0
addr add ${world.publicIp}/32 dev lo
addr add ${world.linkLocalIp}/32 dev lo
link set up0 up
route add default via ${world.hostIp}
`,
  });
  await writeFile(`/proc/sys/net/ipv4/conf/${world.link}/forwarding`, '1');
  const listening = says('listening');
  child.stdin.write('go\n');
  await listening;
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await runCommand(tools.ip, ['link', 'delete', world.link]);
    },
  };
}

// Answers every connection with the address it came from.
const worldProgram = `
import socket
print('unshared'); input()
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('0.0.0.0', 80)); s.listen(); print('listening')
while True:
    c, a = s.accept(); c.send(a[0].encode()); c.close()
`;

/** Tries each address in turn and prints what came of it. */
const tries = (targets: readonly string[]) => `python3 -c "
import socket
for target in '${targets.join(' ')}'.split():
    host, port = target.split(':')
    s = socket.socket(); s.settimeout(0.4)
    try:
        s.connect((host, int(port))); s.settimeout(2); print(target, 'reached', s.recv(100).decode())
    except Exception as e:
        print(target, type(e).__name__)
"`;

describe('the network of a pod', () => {
  let home: TestHome;
  let outside: AsyncDisposable;
  let hostService: Server;
  let neighbour: Pod;
  before(async () => {
    outside = await openWorld();
    hostService = createServer((socket) => socket.end('host'));
    await new Promise<void>((resolve) => hostService.listen(0, '0.0.0.0', resolve));
    home = await TestHome.open();
    const server = aContainer({
      command: ['python3', '-m', 'http.server', '8888'],
      readinessProbe: { tcpSocket: { port: 8888 } },
    });
    home.api.addPod('neighbour', { containers: [server] });
    neighbour = (await home.api.until('neighbour', isReady)) as Pod;
  });
  after(async () => {
    await home[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
    hostService.close();
  });

  test('leads to the public, by the host’s address, and nowhere else', async () => {
    const { hostIp } = await home.network();
    const { port } = hostService.address() as AddressInfo;
    const closed = [
      `${hostIp}:${port}`,
      `${world.hostIp}:${port}`,
      `${home.api.pod('neighbour')?.status?.hostIP}:${port}`,
      `${neighbour.status?.podIP}:8888`,
      `${world.privateIp}:80`,
      `${world.linkLocalIp}:80`,
    ];
    const { output } = await home.run('tries', script(tries([...closed, `${world.publicIp}:80`])));
    assert.deepEqual(output.trim().split('\n'), [
      ...closed.map((target) => `${target} TimeoutError`),
      `${world.publicIp}:80 reached ${world.hostIp}`,
    ]);
  });

  test('lets a pod talk to itself', async () => {
    const text = `python3 -m http.server 8888 2>/dev/null & until ${tries(['127.0.0.1:8888'])} | grep -q -v Refused; do sleep 0.05; done; echo self`;
    assert.equal((await home.run('self', script(text))).output, 'self\n');
  });

  test('does not let anybody in from outside', async () => {
    const program = `import socket
s = socket.socket(); s.settimeout(0.4)
try:
    s.connect(('${neighbour.status?.podIP}', 8888)); print('reached')
except Exception as e: print(type(e).__name__)`;
    const pid = (await runCommand('/usr/bin/pgrep', ['-f', 'unshared.*listening'])).trim().split('\n')[0];
    const output = await runCommand(tools.nsenter, [
      `--net=/proc/${pid}/ns/net`,
      '/usr/bin/python3',
      '-c',
      program,
    ]);
    assert.equal(output.trim(), 'TimeoutError');
  });

  test('does not carry packets under a false address', async () => {
    const { prefix } = await home.network();
    const netns = home.netns(neighbour);
    const send = async (source: string) => {
      const program = `import socket
s = socket.socket(); s.settimeout(0.4); s.bind(('${source}', 0))
try:
    s.connect(('${world.publicIp}', 80)); print('reached')
except Exception as e: print(type(e).__name__)`;
      return (await runCommand(tools.nsenter, [`--net=${netns}`, '/usr/bin/python3', '-c', program])).trim();
    };
    await runCommand(tools.nsenter, [
      `--net=${netns}`,
      tools.ip,
      'addr',
      'add',
      `${prefix}.200/32`,
      'dev',
      'eth0',
    ]);
    assert.equal(await send(neighbour.status?.podIP ?? ''), 'reached');
    assert.equal(await send(`${prefix}.200`), 'TimeoutError');
  });

  test('keeps what is meant for a pod that is not there from leaving the machine', async () => {
    const { prefix } = await home.network();
    await assert.rejects(once(connect(8888, `${prefix}.250`), 'connect'), { code: 'ECONNREFUSED' });
  });

  test('is not open to other users of the machine', async () => {
    const program = `import os, socket
os.setuid(65534)
s = socket.socket(); s.settimeout(0.4)
try:
    s.connect(('${neighbour.status?.podIP}', 8888)); print('reached')
except Exception as e: print(type(e).__name__)`;
    assert.notEqual((await runCommand('/usr/bin/python3', ['-c', program])).trim(), 'reached');
  });
});

test('forwarding of the uplinks is given back with the last home', async () => {
  const link = /^(\S+)\t00000000\t/m.exec((await readIfPresent('/proc/net/route')) ?? '')?.[1];
  const value = async () => (await readIfPresent(`/proc/sys/net/ipv4/conf/${link}/forwarding`))?.trim();
  const others = await claimedIndexes(tools);
  const before = await value();
  {
    await using home = await TestHome.open();
    home.api.addPod('a', { containers: [aContainer()] });
    await home.api.until('a', isReady);
    if (link) assert.equal(await value(), '1');
  }
  if (others.length === 0 && (await claimedIndexes(tools)).length === 0) assert.equal(await value(), before);
});
