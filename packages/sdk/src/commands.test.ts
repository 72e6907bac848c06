import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { heldSandbox, type Script, startHome } from './test-rig.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** A home with one ready sandbox whose only process follows the script. */
async function setUp(script: Script = {}) {
  const home = await startHome(script);
  const { commands } = await heldSandbox(home);
  return { home, commands, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

describe('running a command', () => {
  test('gives its output and exit code', async () => {
    await using rig = await setUp({ stdout: bytes('out ä'), stderr: bytes('err'), exit: { exitCode: 3 } });
    const result = await rig.commands.run(['prog', 'arg'], { env: { A: '1' }, cwd: '/tmp', timeoutMs: 5000 });
    assert.deepEqual(result, {
      exitCode: 3,
      signal: undefined,
      timedOut: false,
      stdout: 'out ä',
      stderr: 'err',
    });
    assert.deepEqual(rig.home.starts, [
      { command: ['prog', 'arg'], env: { A: '1' }, cwd: '/tmp', timeoutMs: 5000, acknowledge: true },
    ]);
  });

  test('as a string goes to a shell', async () => {
    await using rig = await setUp();
    await rig.commands.run('echo $HOME | wc');
    assert.deepEqual(rig.home.starts[0]?.command, ['/bin/sh', '-c', 'echo $HOME | wc']);
  });

  test('that a signal ended says which, and one out of time says so', async () => {
    await using rig = await setUp({ exit: { signal: 'SIGKILL', timedOut: true } });
    const { exitCode, signal, timedOut } = await rig.commands.run(['x']);
    assert.deepEqual(
      { exitCode, signal, timedOut },
      { exitCode: undefined, signal: 'SIGKILL', timedOut: true },
    );
  });

  test('that cannot start rejects with the reason', async () => {
    await using rig = await setUp({ failure: { reason: 'not-found', message: 'no program "x"' } });
    await assert.rejects(rig.commands.run(['x']), {
      name: 'CommandNotStarted',
      code: 'not-found',
      reason: 'not-found',
      message: 'no program "x"',
    });
  });

  test('decodes characters that were cut in two', async () => {
    await using rig = await setUp({ stdout: bytes('äöü'.repeat(100)), frameBytes: 1 });
    assert.equal((await rig.commands.run(['x'])).stdout, 'äöü'.repeat(100));
  });

  test('sends its stdin and closes it', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    const data = randomBytes(1_000_000);
    await rig.commands.run(['x'], { stdin: data });
    assert.ok(rig.home.stdin.equals(data));
    assert.ok(rig.home.isStdinEnded);
  });

  test('rejects when its source of stdin fails, and kills it', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    const failing = (async function* () {
      yield bytes('some');
      throw new Error('disk on fire');
    })();
    await assert.rejects(rig.commands.run(['x'], { stdin: failing }), { message: 'disk on fire' });
    assert.deepEqual(rig.home.signals, ['SIGKILL']);
  });

  test('that writes too much is killed', async () => {
    await using rig = await setUp({ stdout: new Uint8Array(5000), exitsWithStdin: true });
    await assert.rejects(rig.commands.run(['x'], { maxOutputBytes: 4000 }), { code: 'too-large' });
    assert.deepEqual(rig.home.signals, ['SIGKILL']);
  });

  test('that is aborted is killed, and rejects with the reason', async () => {
    await using rig = await setUp({ stdout: bytes('x'), exitsWithStdin: true });
    const abort = new AbortController();
    const running = await rig.commands.start(['x'], { signal: abort.signal });
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const _ of running.output) abort.abort(reason);
    })();
    await assert.rejects(reading, reason);
    await assert.rejects(running.wait(), reason);
    await running[Symbol.asyncDispose]();
    assert.deepEqual(rig.home.signals, ['SIGKILL']);
  });
});

describe('a running command', () => {
  test('can be waited for without reading its output', async () => {
    await using rig = await setUp({ stdout: new Uint8Array(100_000), exit: { exitCode: 5 } });
    await using running = await rig.commands.start(['x']);
    assert.equal(running.pid, 7);
    assert.deepEqual(await running.wait(), { exitCode: 5 });
    assert.deepEqual(await running.wait(), { exitCode: 5 });
    assert.deepEqual(await Array.fromAsync(running.output), []);
  });

  test('can be waited for after its reader left the loop', async () => {
    await using rig = await setUp({ stdout: new Uint8Array(100_000), exit: { exitCode: 5 } });
    await using running = await rig.commands.start(['x']);
    const waiting = running.wait();
    for await (const _ of running.output) break;
    assert.deepEqual(await waiting, { exitCode: 5 });
  });

  test('takes signals, sizes and input', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    await using running = await rig.commands.start(['x'], {
      stdin: true,
      terminal: { columns: 80, rows: 24 },
    });
    await running.resize({ columns: 100, rows: 30 });
    await running.writeStdin('hello ');
    await running.writeStdin(bytes('there'));
    await running.closeStdin();
    await running.wait();
    assert.equal(rig.home.stdin.toString(), 'hello there');
    await running.signal('SIGINT');
    assert.deepEqual(rig.home.signals, ['SIGINT']);
    assert.ok(rig.home.requests.includes('POST /hutch/v1/processes/p1/resize'));
  });

  test('ends its stdin with the stream it was given', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    await using running = await rig.commands.start(['x'], { stdin: true });
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < 1000; i++) controller.enqueue(bytes(`${i},`));
        controller.close();
      },
    });
    await running.writeStdin(stream);
    await running.wait();
    assert.equal(rig.home.stdin.toString(), Array.from({ length: 1000 }, (_, i) => `${i},`).join(''));
    const puts = rig.home.requests.filter((request) => request.startsWith('PUT')).length;
    assert.ok(puts < 100, `${puts} requests for 1000 small writes`);
  });

  test('that stopped reading takes no more, which is no failure', async () => {
    await using rig = await setUp({ exitsWithStdin: true, stdinLimit: 10 });
    await using running = await rig.commands.start(['x'], { stdin: true });
    let pulled = 0;
    const endless = (async function* () {
      for (;;) {
        pulled++;
        yield new Uint8Array(300_000);
      }
    })();
    await running.writeStdin(endless);
    assert.ok(pulled < 5, `${pulled} chunks were read for a process that reads none`);
  });

  test('that exits lets go of a source that never ends', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    await using running = await rig.commands.start(['x'], { stdin: true });
    const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const writing = running.writeStdin(silent);
    await running.signal('SIGTERM');
    await running.wait();
    await writing;
  });

  test('reads a slow source no faster than the process takes it', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    await using running = await rig.commands.start(['x'], { stdin: true });
    const chunk = new Uint8Array(200_000);
    let ahead = 0;
    const source = (async function* () {
      for (let sent = 0; sent < 5_000_000; sent += chunk.length) {
        ahead = Math.max(ahead, sent - rig.home.stdin.length);
        yield chunk;
      }
    })();
    await running.writeStdin(source);
    assert.ok(ahead <= 800_000, `${ahead} bytes were held at once`);
    assert.equal(rig.home.stdin.length, 5_000_000);
  });

  test('is told how far its output was read, also of what came while it was being told', async () => {
    const allRead = Promise.withResolvers<void>();
    await using rig = await setUp({
      stdout: new Uint8Array(3_000_000),
      frameBytes: 64_000,
      // The process waits for the second message; the first is answered when there is nothing left to read.
      beforeAcknowledged: () => allRead.promise,
      exitsWhenAcknowledged: 2_900_000,
    });
    await using running = await rig.commands.start(['x']);
    let read = 0;
    for await (const { data } of running.output) {
      read += data.length;
      if (read === 3_000_000) allRead.resolve();
    }
    const last = rig.home.acknowledged.at(-1);
    assert.ok(last && last.stdout >= 2_900_000, JSON.stringify(rig.home.acknowledged));
  });

  test('is told again when telling it failed', async () => {
    await using rig = await setUp({
      stdout: new Uint8Array(1_000_000),
      frameBytes: 64_000,
      exitsWhenAcknowledged: 900_000,
    });
    rig.home.refusals.push({ path: /acknowledge$/, status: 502, body: { detail: 'Could not connect' } });
    await using running = await rig.commands.start(['x']);
    assert.deepEqual(await running.wait(), { exitCode: 0 });
  });

  test('is killed when it is let go', async () => {
    await using rig = await setUp({ exitsWithStdin: true });
    {
      await using _running = await rig.commands.start(['x']);
    }
    assert.deepEqual(rig.home.signals, ['SIGKILL']);
  });
});

describe('a cut connection', () => {
  test('loses and repeats no byte of output, wherever it is cut', async () => {
    const stream = fc.uint8Array({ maxLength: 3000 });
    const cuts = fc.array(fc.nat(2000), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        stream,
        stream,
        fc.integer({ min: 1, max: 700 }),
        cuts,
        async (stdout, stderr, frameBytes, cuts) => {
          await using rig = await setUp({ stdout, stderr, frameBytes, cuts });
          await using running = await rig.commands.start(['x']);
          const got = { stdout: [] as number[], stderr: [] as number[] };
          for await (const chunk of running.output) got[chunk.stream].push(...chunk.data);
          assert.deepEqual(Uint8Array.from(got.stdout), Uint8Array.from(stdout));
          assert.deepEqual(Uint8Array.from(got.stderr), Uint8Array.from(stderr));
          assert.deepEqual(await running.wait(), { exitCode: 0 });
        },
      ),
      { numRuns: 60 },
    );
  });

  test('loses and repeats no byte of input, wherever it is cut', async () => {
    const input = fc.array(fc.uint8Array({ minLength: 1, maxLength: 500 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(input, fc.array(fc.nat(600), { maxLength: 3 }), async (chunks, stdinCuts) => {
        await using rig = await setUp({ exitsWithStdin: true, stdinCuts });
        await using running = await rig.commands.start(['x'], { stdin: true });
        const [first, ...rest] = chunks;
        if (first) await running.writeStdin(Uint8Array.from(first));
        await running.writeStdin(
          (async function* () {
            yield* rest.map((chunk) => Uint8Array.from(chunk));
          })(),
        );
        await running.wait();
        assert.deepEqual(
          [...rig.home.stdin],
          chunks.flatMap((chunk) => [...chunk]),
        );
      }),
      { numRuns: 20 },
    );
  });

  test('before the runtime answered is told, not tried again: the command may run', async () => {
    await using home = await startHome({ cuts: [0] });
    const { commands } = await heldSandbox(home);
    home.refusals.push({ path: /processes$/, status: 502, body: { detail: 'Could not connect' } });
    await assert.rejects(commands.start(['x']), {
      code: 'unavailable',
      message: 'start a command: Could not connect',
    });
    assert.equal(home.requests.filter((request) => request === 'POST /hutch/v1/processes').length, 1);
  });

  test('that finds the process gone is told', async () => {
    await using rig = await setUp({ stdout: bytes('some'), cuts: [20] });
    rig.home.refusals.push({
      path: /output$/,
      status: 404,
      body: { code: 'not-found', message: 'no process p1' },
    });
    await assert.rejects(rig.commands.run(['x']), {
      code: 'not-found',
      message: 're-attach to process p1: no process p1',
    });
  });

  test('passes a router that is away for a moment', async () => {
    await using rig = await setUp({ stdout: bytes('whole'), cuts: [15] });
    for (const status of [502, 503])
      rig.home.refusals.push({ path: /output$/, status, body: { detail: 'away' } });
    assert.equal((await rig.commands.run(['x'])).stdout, 'whole');
  });

  test('of bytes that are no frames is told, not tried again', async () => {
    await using rig = await setUp();
    rig.home.refusals.push({ path: /processes$/, status: 200, body: 'x'.repeat(100) });
    await assert.rejects(rig.commands.run(['x']), { code: 'invalid' });
  });
});

describe('the sandbox token', () => {
  test('is exchanged once for many commands', async () => {
    await using rig = await setUp();
    await Promise.all([1, 2, 3].map(() => rig.commands.run(['x'])));
    await rig.commands.run(['x']);
    assert.equal(rig.home.tokens, 1);
  });

  test('is exchanged while the sandbox starts, not again for the first command', async () => {
    await using rig = await setUp();
    const sandbox = await rig.home.hutch.sandboxes.connect('a');
    await sandbox.commands.run(['x']);
    assert.equal(rig.home.tokens, 1);
  });

  test('is renewed before it expires', async () => {
    await using rig = await setUp();
    rig.home.tokenSeconds = 59;
    await rig.commands.run(['x']);
    rig.home.tokenSeconds = 3600;
    await rig.commands.run(['x']);
    await rig.commands.run(['x']);
    assert.ok(rig.home.tokens >= 2);
    const before = rig.home.tokens;
    await rig.commands.run(['x']);
    assert.equal(rig.home.tokens, before);
  });

  test('that the router no longer takes is replaced, once', async () => {
    await using rig = await setUp();
    await rig.commands.run(['x']);
    rig.home.refusals.push({ path: /processes$/, status: 401, body: { detail: 'unauthenticated' } });
    await rig.commands.run(['x']);
    assert.equal(rig.home.tokens, 2);
    for (const _ of [1, 2]) {
      rig.home.refusals.push({ path: /processes$/, status: 401, body: { detail: 'unauthenticated' } });
    }
    await assert.rejects(rig.commands.run(['x']), { code: 'unauthorized' });
  });

  test('is asked for again while the router has not heard of the sandbox', async () => {
    await using rig = await setUp();
    const path = /tokens$/;
    rig.home.refusals.push({ path, status: 404, body: { detail: 'sandbox default/a not found' } });
    rig.home.refusals.push({
      path: /processes$/,
      status: 503,
      body: { detail: 'sandbox default/a is not ready' },
    });
    assert.equal((await rig.commands.run(['x'])).exitCode, 0);
  });

  test('that is refused is told', async () => {
    await using rig = await setUp();
    rig.home.refusals.push({ path: /tokens$/, status: 403, body: { detail: 'forbidden' } });
    await assert.rejects(rig.commands.run(['x']), {
      code: 'forbidden',
      message: 'get a token for sandbox default/a: forbidden',
    });
  });
});
