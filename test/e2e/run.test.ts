import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { Machine, peakMb, skip, tracesOf } from './support.ts';

describe('hutch run without a home', { skip }, () => {
  test('prints exactly what the command prints and exits as it does', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--', 'echo', 'hi']);
    assert.deepEqual([result.code, result.stdout], [0, 'hi\n'], result.stderr);
  });

  test('feeds its stdin to the command', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--', 'python3', '-c', 'print(int(input())+1)'], {
      stdin: '41\n',
    });
    assert.deepEqual([result.code, result.stdout], [0, '42\n'], result.stderr);
  });

  test('keeps stderr apart', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--', 'sh', '-c', 'echo out; echo err >&2']);
    assert.deepEqual([result.stdout, result.stderr], ['out\n', 'err\n']);
  });

  test('leaves nothing behind: after success, failure, Ctrl-C and SIGTERM', async () => {
    await using machine = new Machine();
    await machine.run(['run', '--', 'true']); // the shared image store is made once and stays
    const before = tracesOf(machine.dataDir);

    assert.equal((await machine.run(['run', '--', 'true'])).code, 0);
    assert.deepEqual(tracesOf(machine.dataDir), before, 'after success');

    assert.equal((await machine.run(['run', '--', 'sh', '-c', 'exit 3'])).code, 3);
    assert.deepEqual(tracesOf(machine.dataDir), before, 'after failure');

    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const running = machine.start(['run', '--', 'sh', '-c', 'echo started; exec sleep 60']);
      await running.printed('started');
      running.child.kill(signal);
      assert.equal((await running.finished).code, code);
      assert.deepEqual(tracesOf(machine.dataDir), before, `after ${signal}`);
    }
  });

  test('sweeps what a killed run left, and says what it removed', async () => {
    await using machine = new Machine();
    await machine.run(['run', '--', 'true']);
    const before = tracesOf(machine.dataDir);
    const killed = machine.start(['run', '--', 'sh', '-c', 'echo started; exec sleep 600']);
    await killed.printed('started');
    killed.child.kill('SIGKILL');
    await killed.finished;
    assert.notDeepEqual(tracesOf(machine.dataDir), before, 'a killed run cannot clean up after itself');

    const next = await machine.run(['run', '--', 'echo', 'hi']);
    assert.equal(next.stdout, 'hi\n');
    assert.match(next.stderr, /removed what an earlier run left behind/);
    assert.deepEqual(tracesOf(machine.dataDir), before);
  });

  test('ten at once all work', async () => {
    await using machine = new Machine();
    const before = tracesOf(machine.dataDir);
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        machine.run(['run', '--', 'sh', '-c', `echo ${index}; exit ${index}`]),
      ),
    );
    for (const [index, result] of results.entries()) {
      assert.deepEqual([result.code, result.stdout], [index, `${index}\n`], result.stderr);
    }
    assert.deepEqual(tracesOf(machine.dataDir), before);
  });
});

describe('hutch run with a home', { skip }, () => {
  test('passes exit codes through, and 128+N for a signal', async () => {
    await using machine = new Machine();
    await machine.up();
    for (const code of [0, 1, 2, 63, 124, 125, 126, 127, 128, 200, 255]) {
      assert.equal((await machine.run(['run', '--', 'sh', '-c', `exit ${code}`])).code, code);
    }
    for (const signal of [9, 15, 11]) {
      assert.equal((await machine.run(['run', '--', 'sh', '-c', `kill -${signal} $$`])).code, 128 + signal);
    }
  });

  test('every exit code from 0 to 255 comes back from one sandbox', async () => {
    await using machine = new Machine();
    await machine.up();
    const { Hutch } = await import('@hutch/sdk');
    const hutch = new Hutch({ url: machine.endpoint().router, token: machine.token() });
    await using sandbox = await hutch.sandboxes.create({});
    for (let code = 0; code < 256; code++) {
      assert.equal((await sandbox.commands.run(['sh', '-c', `exit ${code}`])).exitCode, code);
    }
  });

  test('brings 50 MB of random bytes back unchanged, with bounded memory everywhere', async (t) => {
    await using machine = new Machine();
    const homePid = await machine.up();
    const before = peakMb(homePid);
    const bytes = randomBytes(50_000_000);
    const running = machine.start(['run', '--', 'cat'], { stdin: bytes });
    let clientPeak = 0;
    const inside = { conmon: 0, main: 0 };
    const hash = createHash('sha256');
    let length = 0;
    running.child.stdout?.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      length += chunk.length;
      clientPeak = Math.max(clientPeak, peakMb(running.child.pid as number));
      for (const { conmon, main } of machine.containerPids()) {
        inside.conmon = Math.max(inside.conmon, peakMb(conmon));
        inside.main = Math.max(inside.main, peakMb(main));
      }
    });
    assert.equal((await running.finished).code, 0);
    assert.equal(length, bytes.length);
    assert.equal(hash.digest('hex'), createHash('sha256').update(bytes).digest('hex'));
    t.diagnostic(
      `peak RSS: client ${clientPeak} MB, home ${peakMb(homePid)} MB (${before} MB before), runtime ${inside.main} MB, conmon ${inside.conmon} MB`,
    );
    assert.ok(inside.main > 0 && inside.main < 150, `the runtime grew to ${inside.main} MB`);
    assert.ok(inside.conmon > 0 && inside.conmon < 50, `conmon grew to ${inside.conmon} MB`);
    assert.ok(clientPeak < 200, `the client grew to ${clientPeak} MB`);
    assert.ok(peakMb(homePid) < before + 100, `the home grew from ${before} to ${peakMb(homePid)} MB`);
  });

  test('passes output on as fast as it comes, all of it', async () => {
    await using machine = new Machine();
    await machine.up();
    for (let round = 0; round < 3; round++) {
      const running = machine.start(['run', '--', 'head', '-c', '100000000', '/dev/zero']);
      let length = 0;
      running.child.stdout?.removeAllListeners('data');
      running.child.stdout?.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      assert.equal((await running.finished).code, 0);
      assert.equal(length, 100_000_000);
    }
  });

  test('ends a command whose time is up, says so and exits with 124', async () => {
    await using machine = new Machine();
    await machine.up();
    const result = await machine.run(['run', '-o', 'json', '--timeout', '1', '--', 'sleep', '60']);
    assert.equal(result.code, 124);
    assert.match(result.stderr, /did not finish within 1 s/);
    const { timingsMs } = JSON.parse(result.stdout) as { timingsMs: Record<string, number> };
    const tookMs = timingsMs.command ?? 0;
    assert.ok(tookMs >= 900 && tookMs < 3000, `ended after ${tookMs} ms`);
  });

  test('passes variables, the working directory and limits on', async () => {
    await using machine = new Machine();
    await machine.up();
    const result = await machine.run([
      'run',
      '-e',
      'GREETING=hello there',
      '-w',
      '/tmp',
      '--memory',
      '64Mi',
      '--',
      'sh',
      '-c',
      'echo "$GREETING"; pwd',
    ]);
    assert.equal(result.stdout, 'hello there\n/tmp\n', result.stderr);
    const hungry = await machine.run([
      'run',
      '--memory',
      '64Mi',
      '--',
      'python3',
      '-c',
      'x = bytearray(300_000_000); print(len(x))',
    ]);
    assert.notEqual(hungry.code, 0);
    assert.equal(hungry.stdout, '');
  });

  test('tells a program everything as JSON', async () => {
    await using machine = new Machine();
    await machine.up();
    const result = await machine.run([
      'run',
      '-o',
      'json',
      '--name',
      'box',
      '--',
      'sh',
      '-c',
      'echo out; echo err >&2; exit 4',
    ]);
    const value = JSON.parse(result.stdout) as Record<string, unknown>;
    assert.deepEqual(
      [result.code, value.sandbox, value.exitCode, value.stdout, value.stderr],
      [4, 'box', 4, 'out\n', 'err\n'],
    );
  });

  test('prints how long each stage took when asked', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '--timings', '--', 'true']);
    assert.match(result.stderr, /sandbox ready +[\d.]+ ms/);
    assert.match(result.stderr, /total +[\d.]+ ms/);
  });

  test('a command in a pipe that closes early ends quietly', async () => {
    await using machine = new Machine();
    await machine.up();
    const running = machine.start(['run', '--', 'yes']);
    running.child.stdout?.once('data', () => running.child.stdout?.destroy());
    assert.equal((await running.finished).code, 141);
  });
});
