import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Machine, root, skip } from './support.ts';

describe('when something is wrong, hutch run says what and what to do', { skip }, () => {
  test('a command that does not exist is 127', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--', 'no-such-command']);
    assert.equal(result.code, 127);
    assert.match(result.stderr, /no-such-command/);
  });

  test('a command that is not executable is 126', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--', '/etc/passwd']);
    assert.equal(result.code, 126);
    assert.match(result.stderr, /\/etc\/passwd/);
  });

  test('an unknown image is named, with what there is', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--image', 'example.test/nothing:1', '--', 'true']);
    assert.equal(result.code, 125);
    assert.match(result.stderr, /example\.test\/nothing:1/);
    assert.match(result.stderr, /hutch\.internal\/host/);
  });

  for (const flags of [
    ['--no-such-flag'],
    ['--timeout', 'soon'],
    ['--memory', 'lots'],
    ['--cpu', '-1'],
    ['--name', 'Not_A_Name'],
    ['-o', 'xml'],
  ]) {
    test(`the bad flag ${flags.join(' ')} is 125 and named`, async () => {
      await using machine = new Machine();
      const result = await machine.run(['run', ...flags, '--', 'true']);
      assert.equal(result.code, 125);
      assert.match(
        result.stderr,
        new RegExp(flags[0] === '--name' ? 'Not_A_Name' : (flags[0]?.replace('-o', '--output') as string)),
      );
    });
  }

  test('no command at all shows how it is used', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run']);
    assert.equal(result.code, 125);
    assert.match(result.stderr, /missing required argument/);
  });

  test('a name that is taken is told, and the sandbox that has it is left alone', async () => {
    await using machine = new Machine();
    await machine.up();
    await machine.run(['run', '--keep', '--name', 'box', '--', 'true']);
    const second = await machine.run(['run', '--name', 'box', '--', 'true']);
    assert.equal(second.code, 125);
    assert.match(second.stderr, /already/);
    assert.match((await machine.run(['ls'])).stdout, /box +True/);
  });

  test('not being root is told before anything is made', () => {
    // In a user namespace without a mapping this process is nobody, and still can read the checkout.
    const hutch = [join(root, 'hutch'), 'run', '--data-dir', '/tmp/hutch-nobody', '--', 'true'];
    const result = spawnSync('unshare', ['--user', ...hutch], { encoding: 'utf8' });
    assert.equal(result.status, 125, result.stderr);
    assert.match(result.stderr, /root/);
    assert.equal(result.stdout, '');
    assert.ok(!existsSync('/tmp/hutch-nobody'));
  });

  test('a missing OCI runtime is told with the command that installs it', async () => {
    await using machine = new Machine();
    // In a mount namespace of its own, this machine has no runc that could be started.
    const script = 'mount --bind /dev/null "$(command -v runc)" && exec "$@"';
    const hutch = [join(root, 'hutch'), 'run', '--data-dir', machine.dataDir, '--', 'true'];
    const result = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', ...hutch], {
      encoding: 'utf8',
      env: { ...process.env, HUTCH_NO_INSTALL: '1' },
    });
    assert.equal(result.status, 125, result.stderr);
    assert.match(result.stderr, /runc/);
    assert.match(result.stderr, /install/);
    assert.equal(result.stdout, '');
  });

  test('a command that needs a home says how to start one', async () => {
    await using machine = new Machine();
    for (const args of [
      ['ls'],
      ['exec', 'box', '--', 'true'],
      ['logs', 'box'],
      ['rm', 'box'],
      ['kubeconfig'],
    ]) {
      const result = await machine.run(args);
      assert.notEqual(result.code, 0);
      assert.match(result.stderr, /hutch up/);
    }
  });

  test('a sandbox that is not there is told by exec, logs and rm', async () => {
    await using machine = new Machine();
    await machine.up();
    for (const args of [
      ['exec', 'box', '--', 'true'],
      ['logs', 'box'],
      ['rm', 'box'],
    ]) {
      const result = await machine.run(args);
      assert.notEqual(result.code, 0);
      assert.match(result.stderr, /hutch ls/);
    }
  });

  test('hutch doctor names what was found', async () => {
    await using machine = new Machine();
    const result = await machine.run(['doctor']);
    assert.equal(result.code, 0, result.stdout + result.stderr);
    for (const part of ['runc', 'conmon', 'nft', 'ip', 'user namespaces'])
      assert.match(result.stdout, new RegExp(part));
  });
});
