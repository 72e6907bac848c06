import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { Machine, skip } from './support.ts';

describe('from inside a sandbox', { skip }, () => {
  let machine: Machine;
  before(async () => {
    machine = new Machine();
    await machine.up();
    await machine.run(['run', '--keep', '--name', 'inside', '--', 'true']);
    await machine.run(['run', '--keep', '--name', 'neighbour', '--', 'true']);
  });
  after(async () => {
    await machine[Symbol.asyncDispose]();
  });

  const sh = async (script: string) => {
    const { stdout, stderr } = await machine.run(['exec', 'inside', '--', 'sh', '-c', script]);
    return (stdout + stderr).trim();
  };
  const python = async (script: string) =>
    (await machine.run(['exec', 'inside', '--', 'python3', '-c', script])).stdout.trim();
  /** `open`, or how the attempt to connect failed. */
  const connect = (address: string, port: number) =>
    python(`
import socket
s = socket.socket()
s.settimeout(1.5)
try:
    s.connect((${JSON.stringify(address)}, ${port}))
    print('open')
except Exception as err:
    print(type(err).__name__)
`);

  test('there is a pid namespace of its own without any process of the host', async () => {
    const seen = Number(await sh('ls /proc | grep -c "^[0-9]"'));
    assert.ok(seen > 0 && seen < 10, `${seen} processes`);
    assert.match(await sh('tr "\\0" " " < /proc/1/cmdline'), /hutch-runtime/);
  });

  test('neither the host name, homes, root, nor secrets are visible', async () => {
    assert.notEqual(await sh('hostname 2>/dev/null || cat /proc/sys/kernel/hostname'), hostname());
    assert.equal(await sh('ls -A /root 2>/dev/null'), '');
    assert.equal(await sh('ls /home'), 'sandbox');
    for (const path of [
      '/etc/shadow',
      '/etc/ssh',
      '/etc/ssl/private',
      '/var/run/docker.sock',
      '/var/lib/dpkg',
      machine.dataDir,
    ]) {
      assert.match(await sh(`ls -d ${path} 2>&1`), /No such file/, path);
    }
    rmSync('/tmp/hutch-probe', { recursive: true, force: true });
    mkdirSync('/tmp/hutch-probe');
    writeFileSync('/tmp/hutch-probe/secret', 'x');
    assert.match(await sh('ls /tmp/hutch-probe 2>&1'), /No such file/);
    rmSync('/tmp/hutch-probe', { recursive: true, force: true });
  });

  test('/usr is the machine’s, but read-only and without set-user-id programs', async () => {
    assert.match(await sh('touch /usr/x 2>&1'), /Read-only file system/);
    const options = await sh('awk \'$5 == "/usr" {print $6}\' /proc/self/mountinfo');
    for (const option of ['ro', 'nosuid', 'nodev'])
      assert.ok(options.split(',').includes(option), `${option} in ${options}`);
  });

  test('the command is not root and can never become it', async () => {
    assert.equal(await sh('id -u'), '1000');
    assert.equal(await sh('grep CapEff /proc/self/status | cut -f2'), '0000000000000000');
    assert.equal(await sh('grep CapBnd /proc/self/status | cut -f2'), '0000000000000000');
    assert.equal(await sh('grep NoNewPrivs /proc/self/status | cut -f2'), '1');
    assert.equal(await sh('grep "^Seccomp:" /proc/self/status | cut -f2'), '2');
  });

  test('its ids are nobody’s on the host where user namespaces work', async (t) => {
    const map = await sh('cat /proc/self/uid_map');
    if (/^\s*0\s+0\s/.test(map)) return t.skip('user namespaces do not work on this machine');
    const outside = Number(map.split(/\s+/)[1]);
    assert.ok(outside >= 65536, map);
  });

  test('kernel interfaces are masked or read-only', async () => {
    for (const path of ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug']) {
      assert.equal(await sh(`test -e ${path} && head -c 1 ${path} 2>/dev/null | wc -c || echo 0`), '0', path);
    }
    for (const path of [
      '/proc/sys/kernel/hostname',
      '/proc/sysrq-trigger',
      '/proc/sys/vm/overcommit_memory',
      '/sys/kernel/mm/ksm/run',
    ]) {
      assert.match(
        await sh(`echo 1 > ${path} 2>&1`),
        /Read-only|Permission denied|nonexistent|cannot create/i,
        path,
      );
    }
    assert.match(
      await sh('mount -t tmpfs none /tmp 2>&1'),
      /permission denied|must be superuser|Operation not permitted/i,
    );
    assert.match(await sh('unshare -U true 2>&1'), /not permitted|denied/i);
  });

  test('only the usual devices are there', async () => {
    const devices = (await sh('ls /dev')).split(/\s+/).sort();
    for (const device of devices) {
      assert.ok(
        [
          'console',
          'core',
          'fd',
          'full',
          'mqueue',
          'null',
          'ptmx',
          'pts',
          'random',
          'shm',
          'stderr',
          'stdin',
          'stdout',
          'tty',
          'urandom',
          'zero',
        ].includes(device),
        device,
      );
    }
  });

  test('limits hold: processes and memory', async () => {
    assert.match(await sh('cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null'), /^\d+$/);
    assert.match(
      await sh(
        'i=0; while [ $i -lt 5000 ]; do sleep 30 & i=$((i+1)); done 2>&1 | tail -1; kill $(jobs -p) 2>/dev/null; true',
      ),
      /fork|Resource temporarily unavailable/i,
    );
  });

  test('the services of the host cannot be reached, on any of its addresses', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '0.0.0.0');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as { port: number };
    try {
      const addresses = Object.values(networkInterfaces())
        .flatMap((all) => all ?? [])
        .filter(({ family }) => family === 'IPv4')
        .map(({ address }) => address);
      const gateway = (await sh("ip route 2>/dev/null | awk '/default/ {print $3}'")) || '169.254.1.1';
      for (const address of [...addresses.filter((address) => address !== '127.0.0.1'), gateway]) {
        assert.notEqual(await connect(address, port), 'open', address);
      }
      assert.equal(
        await connect('127.0.0.1', port),
        'ConnectionRefusedError',
        'loopback is the sandbox’s own',
      );
    } finally {
      server.close();
    }
    const { router, api } = machine.endpoint();
    for (const url of [router, api])
      assert.notEqual(await connect(new URL(url).hostname, Number(new URL(url).port)), 'open', url);
  });

  test('a neighbour cannot be reached', async () => {
    const list = JSON.parse((await machine.run(['ls', '-o', 'json'])).stdout) as {
      metadata: { name: string };
      status: { podIPs: string[] };
    }[];
    const neighbour = list.find(({ metadata }) => metadata.name === 'neighbour');
    assert.notEqual(await connect(neighbour?.status.podIPs[0] as string, 8888), 'open');
  });

  test('private networks cannot be reached, a public address can', async (t) => {
    // Two hosts of this test's own, in network namespaces that the machine can reach.
    const hosts = [
      { name: 'private', address: '10.213.77.2', gateway: '10.213.77.1', want: 'closed' },
      { name: 'public', address: '203.0.113.2', gateway: '203.0.113.1', want: 'open' },
    ];
    for (const { name, address, gateway, want } of hosts) {
      const ns = `hutch-test-${name}`;
      const ip = (...args: string[]) => execFileSync('ip', args);
      try {
        ip('netns', 'add', ns);
        ip('link', 'add', `ht-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', ns);
        ip('addr', 'add', `${gateway}/30`, 'dev', `ht-${name}`);
        ip('link', 'set', `ht-${name}`, 'up');
        ip('-n', ns, 'addr', 'add', `${address}/30`, 'dev', 'eth0');
        ip('-n', ns, 'link', 'set', 'eth0', 'up');
        ip('-n', ns, 'route', 'add', 'default', 'via', gateway);
        const script =
          "import socket\ns=socket.create_server(('0.0.0.0',7777))\nprint('up',flush=True)\nwhile True: s.accept()[0].close()";
        const { spawn } = await import('node:child_process');
        const server = spawn('ip', ['netns', 'exec', ns, '/usr/bin/python3', '-c', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await new Promise((done) => server.stdout.once('data', done));
        try {
          const got = await connect(address, 7777);
          t.diagnostic(`${name}: ${got}`);
          assert.equal(got === 'open' ? 'open' : 'closed', want, `${name} host: ${got}`);
        } finally {
          server.kill('SIGKILL');
          await new Promise((done) => server.once('exit', done));
        }
      } finally {
        execFileSync('sh', [
          '-c',
          `ip netns del ${ns} 2>/dev/null; ip link del ht-${name} 2>/dev/null; true`,
        ]);
      }
    }
  });
});
