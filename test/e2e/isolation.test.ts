import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Machine, root, skip } from './support.ts';

describe('from inside a sandbox', { skip }, () => {
  let machine: Machine;
  before(async () => {
    machine = new Machine();
    await machine.up();
    for (const name of ['inside', 'neighbour']) {
      const made = await machine.run(['run', '--keep', '--name', name, '--', 'true']);
      assert.equal(made.code, 0, made.stderr);
    }
    const root = await machine.create('rooted', { securityContext: { runAsUser: 0 } });
    assert.equal(root.status, 201, root.text);
  });
  after(async () => {
    await machine[Symbol.asyncDispose]();
  });

  const sh = async (script: string, sandbox = 'inside') => {
    const { stdout, stderr } = await machine.run(['exec', sandbox, '--', 'sh', '-c', script]);
    return (stdout + stderr.replace(/^hutch: building.*\n/gm, '')).trim();
  };
  const python = async (script: string) =>
    (await machine.run(['exec', 'inside', '--', 'python3', '-c', script])).stdout.trim();
  /** `open`, or how the attempt to connect failed. */
  const connect = (address: string, port: number) => python(connectScript(address, port));

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

  for (const [sandbox, uid] of [
    ['inside', '1000'],
    ['rooted', '0'],
  ] as const) {
    test(`kernel interfaces are masked or read-only, also for uid ${uid}`, async () => {
      assert.equal(await sh('id -u', sandbox), uid);
      for (const path of [
        '/proc/kcore',
        '/proc/keys',
        '/proc/timer_list',
        '/proc/sched_debug',
        '/proc/interrupts',
      ]) {
        const script = `if test -e ${path}; then head -c 1 ${path} 2>/dev/null | wc -c; else echo 0; fi`;
        assert.equal(await sh(script, sandbox), '0', path);
      }
      const readOnly = [
        '/proc/sys/kernel/hostname',
        '/proc/sysrq-trigger',
        '/proc/sys/vm/overcommit_memory',
        '/proc/irq',
        '/sys',
      ];
      const mounts = await sh('cat /proc/self/mountinfo', sandbox);
      for (const path of readOnly.filter((path) => existsSync(path))) {
        const options = optionsOfMount(mounts, path);
        assert.ok(options.includes('ro'), `${path} is on a read-only mount: ${options}`);
      }
      assert.match(await sh('echo x > /proc/sys/kernel/hostname', sandbox), /Read-only|Permission denied/);
      assert.match(await sh('mount -t tmpfs none /tmp 2>&1', sandbox), /denied|superuser|not permitted/i);
      assert.match(await sh('unshare -U true 2>&1', sandbox), /not permitted|denied/i);
    });
  }

  test('root inside has few rights and can do nothing to the machine', async () => {
    const rights = BigInt(`0x${await sh('grep CapEff /proc/self/status | cut -f2', 'rooted')}`);
    const forbidden = {
      sysAdmin: 21,
      sysModule: 16,
      sysRawio: 17,
      sysPtrace: 19,
      netAdmin: 12,
      netRaw: 13,
      bpf: 39,
    };
    for (const [name, bit] of Object.entries(forbidden)) assert.equal((rights >> BigInt(bit)) & 1n, 0n, name);
    assert.match(await sh('touch /usr/x 2>&1', 'rooted'), /Read-only file system/);
    assert.equal(await sh('grep NoNewPrivs /proc/self/status | cut -f2', 'rooted'), '1');
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

  test('there is a limit to processes', async () => {
    assert.match(await sh('cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null'), /^\d+$/);
    const script = [
      'import threading',
      'threading.stack_size(65536)',
      'started, end = 0, threading.Event()',
      'try:',
      '    while started < 20000:',
      '        threading.Thread(target=end.wait, daemon=True).start()',
      '        started += 1',
      'except RuntimeError:',
      '    print("refused after", started, flush=True)',
    ];
    assert.match(await python(script.join('\n')), /^refused after \d+$/);
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
        assert.match(await connect(address, port), closed, address);
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
    for (const url of [router, api]) {
      assert.match(await connect(new URL(url).hostname, Number(new URL(url).port)), closed, url);
    }
  });

  test('a neighbour cannot be reached', async () => {
    const list = JSON.parse((await machine.run(['ls', '-o', 'json'])).stdout) as {
      metadata: { name: string };
      status: { podIPs: string[] };
    }[];
    const neighbour = list.find(({ metadata }) => metadata.name === 'neighbour');
    const address = neighbour?.status.podIPs[0] as string;
    await reached(address, 8888); // the machine itself can, so there is something to reach
    assert.match(await connect(address, 8888), closed);
  });
});

/** A network of this test's own: a machine to run Hutch on, and behind its only uplink a world with two hosts in it. */
class TestWorld implements AsyncDisposable {
  readonly #machine = 'hutch-test-machine';
  readonly #world = 'hutch-test-world';
  readonly hosts = { public: '203.0.113.2', private: '10.213.77.2' };
  #server: ChildProcess | undefined;

  async open(): Promise<void> {
    for (const name of [this.#machine, this.#world]) {
      ip('netns', 'add', name);
      ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    ip(
      '-n',
      this.#machine,
      'link',
      'add',
      'up0',
      'type',
      'veth',
      'peer',
      'name',
      'down0',
      'netns',
      this.#world,
    );
    ip('-n', this.#machine, 'addr', 'add', '198.51.100.2/30', 'dev', 'up0');
    ip('-n', this.#machine, 'link', 'set', 'up0', 'up');
    ip('-n', this.#machine, 'route', 'add', 'default', 'via', '198.51.100.1');
    ip('-n', this.#world, 'addr', 'add', '198.51.100.1/30', 'dev', 'down0');
    ip('-n', this.#world, 'link', 'set', 'down0', 'up');
    for (const address of Object.values(this.hosts))
      ip('-n', this.#world, 'addr', 'add', `${address}/32`, 'dev', 'lo');
    const serve =
      "import socket\ns=socket.create_server(('0.0.0.0',7777))\nprint('up',flush=True)\nwhile True: s.accept()[0].close()";
    this.#server = spawn('nsenter', [`--net=/run/netns/${this.#world}`, '/usr/bin/python3', '-c', serve], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(this.#server.stdout as NodeJS.ReadableStream, 'data');
  }

  /** What a command prints that is started on the machine of this world. */
  async runOnMachine(...command: string[]): Promise<string> {
    const child = spawn('nsenter', [`--net=/run/netns/${this.#machine}`, ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await once(child, 'close');
    return printed.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server) {
      this.#server.kill('SIGKILL');
      await once(this.#server, 'exit');
    }
    for (const name of [this.#machine, this.#world]) ip('netns', 'del', name);
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args);
}

describe('the way out of a sandbox', { skip }, () => {
  test('leads to public addresses, not to private ones that the machine itself can reach', async () => {
    await using machine = new Machine();
    await using world = new TestWorld();
    await world.open();
    for (const [name, address] of Object.entries(world.hosts)) {
      const attempt = ['/usr/bin/python3', '-c', connectScript(address, 7777)];
      assert.equal(await world.runOnMachine(...attempt), 'open', `the machine reaches the ${name} host`);
      const hutch = [join(root, 'hutch'), 'run', '--data-dir', machine.dataDir, '--'];
      const fromInside = await world.runOnMachine(...hutch, ...attempt);
      if (name === 'public') assert.equal(fromInside, 'open');
      else assert.match(fromInside, closed);
    }
  });
});

/** The options of the mount that a path is on, from a process's mountinfo. */
function optionsOfMount(mountinfo: string, path: string): string[] {
  const mounts = mountinfo.split('\n').map((line) => line.split(' '));
  const isOn = (place: string) => place === '/' || path === place || path.startsWith(`${place}/`);
  const found = mounts
    .filter(([, , , , place = '']) => isOn(place))
    .toSorted((a, b) => (b[4]?.length ?? 0) - (a[4]?.length ?? 0));
  return found[0]?.[5]?.split(',') ?? [];
}

/** How a connection fails that is not let through. */
const closed = /^(TimeoutError|timeout|ConnectionRefusedError|OSError)$/;

/** Resolves when this process can connect. */
async function reached(address: string, port: number): Promise<void> {
  const socket = createConnection({ host: address, port });
  await once(socket, 'connect');
  socket.destroy();
}

/** A program that prints `open`, or how its attempt to connect failed. */
function connectScript(address: string, port: number): string {
  return [
    'import socket',
    's = socket.socket()',
    's.settimeout(1.5)',
    'try:',
    `    s.connect((${JSON.stringify(address)}, ${port}))`,
    "    print('open')",
    'except Exception as err:',
    '    print(type(err).__name__)',
  ].join('\n');
}
