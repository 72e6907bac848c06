/**
 * What every runtime promises its callers, whichever platform it runs on. The suite needs a shell and the usual
 * small tools where the runtime runs.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { processesPath } from '@hutch/runtime-protocol';
import fc from 'fast-check';
import { RuntimeClient } from './client.ts';
import type { RunningRuntime } from './running-runtime.ts';

/** Its code and tables alone are a quarter of that, and shared between sandboxes. */
const maxPeakBytes = 128 << 20;

const sh = (script: string): string[] => ['sh', '-c', script];

export function describeProtocol(name: string, open: () => Promise<RunningRuntime>): void {
  describe(`${name} keeps the runtime protocol`, { concurrency: false }, () => {
    let runtime: RunningRuntime;
    let client: RuntimeClient;
    before(async () => {
      runtime = await open();
      client = new RuntimeClient(runtime.port);
    });
    after(() => runtime[Symbol.asyncDispose]());

    test('the root path says that it is active', async () => {
      assert.deepEqual(await client.ask('GET', '/'), {
        status: 200,
        body: { status: 'ok', message: 'Sandbox Runtime is active.' },
      });
    });

    test('stdout, stderr and exit code come back apart', async () => {
      const { stdout, stderr, outcome } = await client.run(sh('echo out; echo err >&2; exit 3'));
      assert.equal(stdout.toString(), 'out\n');
      assert.equal(stderr.toString(), 'err\n');
      assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 3 } });
    });

    for (const code of [0, 1, 2, 42, 125, 126, 127, 128, 137, 254, 255]) {
      test(`exit code ${code} passes through`, async () => {
        const { outcome } = await client.run(sh(`exit ${code}`));
        assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: code } });
      });
    }

    for (const signal of ['TERM', 'KILL', 'INT', 'SEGV', 'USR1']) {
      test(`death by SIG${signal} is told as a signal`, async () => {
        const { outcome } = await client.run(sh(`kill -${signal} $$`));
        assert.deepEqual(outcome, { type: 'exited', exit: { signal: `SIG${signal}` } });
      });
    }

    test('environment, working directory and argument zero are as asked', async () => {
      const script = 'echo "$0 $WORD"; test -n "$PATH" && pwd';
      const { stdout } = await client.run(['sh', '-c', script], { env: { WORD: 'a b' }, cwd: '/usr' });
      assert.equal(stdout.toString(), 'sh a b\n/usr\n');
    });

    test('without stdin a process reads an empty one', async () => {
      const { stdout, outcome } = await client.run(sh('cat; echo end'));
      assert.equal(stdout.toString(), 'end\n');
      assert.equal(outcome?.type, 'exited');
    });

    const failures = [
      { name: 'an unknown program', start: { command: ['no-such-program-here'] }, reason: 'not-found' },
      { name: 'an unknown path', start: { command: ['/no/such/program'] }, reason: 'not-found' },
      { name: 'an empty name', start: { command: [''] }, reason: 'not-found' },
      {
        name: 'a program outside PATH',
        start: { command: ['sh'], env: { PATH: '/proc' } },
        reason: 'not-found',
      },
      {
        name: 'a file that is not executable',
        start: { command: ['/proc/self/status'] },
        reason: 'not-executable',
      },
      { name: 'a directory', start: { command: ['/proc'] }, reason: 'not-executable' },
      { name: 'a missing directory', start: { command: ['sh'], cwd: '/no/such' }, reason: 'bad-directory' },
      {
        name: 'a file as directory',
        start: { command: ['sh'], cwd: '/proc/self/status' },
        reason: 'bad-directory',
      },
    ];
    for (const { name: what, start, reason } of failures) {
      for (const terminal of [undefined, { columns: 80, rows: 24 }]) {
        test(`${what} fails as ${reason}${terminal ? ' on a terminal' : ''}`, async () => {
          const { outcome } = await (
            await client.start({ ...start, ...(terminal && { terminal }) })
          ).collect();
          assert.equal(outcome?.type, 'failed');
          assert.equal(outcome.failure.reason, reason);
        });
      }
    }

    test('an argument longer than the kernel takes fails as internal', async () => {
      const { outcome } = await client.run(['sh', 'x'.repeat(200_000)]);
      assert.equal(outcome?.type, 'failed');
      assert.equal(outcome.failure.reason, 'internal');
    });

    test('a script whose interpreter is missing is not executable', async () => {
      const script = 'f=$(mktemp); printf "#!/no/such\\n" > $f; chmod +x $f; echo $f';
      const file = (await client.run(sh(script))).stdout.toString().trim();
      const { outcome } = await client.run([file]);
      await client.run(['rm', file]);
      assert.equal(outcome?.type, 'failed');
      assert.equal(outcome.failure.reason, 'not-executable');
    });

    test('stdin arrives in order and ends when told', async () => {
      const output = await client.start({ command: ['cat'], stdin: true });
      const { id } = await output.started();
      assert.deepEqual(await client.putStdin(id, Buffer.from('hello '), 'offset=0'), {
        status: 200,
        body: { received: 6 },
      });
      await client.putStdin(id, Buffer.from('world'), 'offset=6&end=true');
      const { stdout, outcome } = await output.collect();
      assert.equal(stdout.toString(), 'hello world');
      assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 0 } });
    });

    test('stdin that was received already is skipped, and a gap is refused', async () => {
      const output = await client.start({ command: ['cat'], stdin: true });
      const { id } = await output.started();
      await client.putStdin(id, Buffer.from('abcdef'), 'offset=0');
      assert.deepEqual((await client.putStdin(id, Buffer.from('abc'), 'offset=0')).body, { received: 6 });
      assert.deepEqual((await client.putStdin(id, Buffer.from('defghi'), 'offset=3')).body, { received: 9 });
      assert.equal((await client.putStdin(id, Buffer.from('x'), 'offset=10')).status, 409);
      await client.putStdin(id, Buffer.alloc(0), 'offset=9&end=true');
      assert.equal((await output.collect()).stdout.toString(), 'abcdefghi');
    });

    test('stdin for a process that no longer reads is taken and dropped', { timeout: 10_000 }, async () => {
      const output = await client.start({
        command: sh('exec <&-; echo closed; read x < /dev/null; sleep 60'),
        stdin: true,
      });
      const { id } = await output.started();
      await output.until(/closed/);
      const answer = await client.putStdin(
        id,
        Readable.from([Buffer.alloc(1 << 20), Buffer.alloc(10)]),
        'offset=0',
      );
      assert.equal(answer.status, 200);
      await client.post(id, 'signal', { signal: 'SIGKILL' });
      await output.collect();
    });

    test('a process that exits without reading its stdin releases the sender', {
      timeout: 10_000,
    }, async () => {
      const output = await client.start({ command: sh('read line; exit 5'), stdin: true });
      const { id } = await output.started();
      const sent = client.putStdin(
        id,
        Buffer.concat([Buffer.from('go\n'), Buffer.alloc(4 << 20)]),
        'offset=0',
      );
      assert.deepEqual((await output.collect()).outcome, { type: 'exited', exit: { exitCode: 5 } });
      assert.deepEqual((await sent).body, { received: 3 + (4 << 20), closed: true });
    });

    test('50 MB of random bytes through cat come back identical', { timeout: 60_000 }, async (t) => {
      const total = 50 * 1024 * 1024;
      const sentHash = createHash('sha256');
      const source = Readable.from(
        (function* () {
          for (let at = 0; at < total; at += 1 << 18) {
            const bytes = randomBytes(1 << 18);
            sentHash.update(bytes);
            yield bytes;
          }
        })(),
      );
      const output = await client.start({ command: ['cat'], stdin: true });
      const { id } = await output.started();
      const before = runtime.peakBytes?.();
      const sent = client.putStdin(id, source, 'offset=0&end=true');
      const gotHash = createHash('sha256');
      for (let frame = await output.next(); frame; frame = await output.next()) {
        if (frame.type === 'stdout') gotHash.update(frame.data);
      }
      assert.deepEqual((await sent).body, { received: total, closed: true });
      assert.equal(output.position.stdout, total);
      assert.equal(gotHash.digest('hex'), sentHash.digest('hex'));
      const peak = runtime.peakBytes?.();
      if (peak !== undefined) {
        t.diagnostic(`peak resident size ${mebibytes(before ?? 0)} → ${mebibytes(peak)}`);
        assert.ok(peak < maxPeakBytes, `the runtime grew to ${mebibytes(peak)}`);
      }
    });

    test('a reader that stops reading stops the process, and memory stays bounded', {
      timeout: 60_000,
    }, async (t) => {
      // The process counts on stderr what it could write; a second one looks whether the count stands still.
      const script =
        'f=$(mktemp); echo $f; i=0; while :; do head -c 1048576 /dev/zero; i=$((i+1)); echo $i > $f; done';
      const output = await client.start({ command: sh(script) });
      const { id } = await output.started();
      const file = (await output.until(/\n/)).split('\n')[0] ?? '';
      const progress = async () => Number((await client.run(['cat', file])).stdout.toString());
      let last = -1;
      for (let now = await progress(); now !== last; now = await progress()) {
        last = now;
        await client.run(['sleep', '0.3']); // time for the process to go on, if it can
      }
      t.diagnostic(`the process stood still after ${last} MiB`);
      assert.ok(last < 64, `${last} MiB were taken from a process whose output nobody reads`);
      const peak = runtime.peakBytes?.();
      if (peak !== undefined) assert.ok(peak < maxPeakBytes, `the runtime grew to ${mebibytes(peak)}`);
      await client.post(id, 'signal', { signal: 'SIGKILL' });
      await output.collect();
      await client.run(['rm', file]);
    });

    test('a cut stream goes on where it was, without a byte lost or repeated', {
      timeout: 60_000,
    }, async () => {
      const script =
        'i=0; while [ $i -lt 3000 ]; do echo "line $i of the output"; echo "e $i" >&2; i=$((i+1)); done';
      const whole = await client.run(sh(script));
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat({ max: whole.stdout.length }), { maxLength: 6 }), async (cuts) => {
          const stdout: Uint8Array[] = [];
          const stderr: Uint8Array[] = [];
          let output = await client.start({ command: sh(script) });
          const { id } = await output.started();
          for (const cutAt of [...cuts.sort((a, b) => a - b), Number.POSITIVE_INFINITY]) {
            while (output.position.stdout < cutAt) {
              const frame = await output.next();
              if (!frame || frame.type === 'exited') break;
              if (frame.type === 'stdout') stdout.push(frame.data);
              if (frame.type === 'stderr') stderr.push(frame.data);
            }
            if (cutAt === Number.POSITIVE_INFINITY) break;
            output.cut();
            output = await client.reattach(id, output.position);
          }
          assert.ok(Buffer.concat(stdout).equals(whole.stdout));
          assert.ok(Buffer.concat(stderr).equals(whole.stderr));
        }),
        { numRuns: 15 },
      );
    });

    test('with acknowledgement nothing is lost however much was on its way', {
      timeout: 60_000,
    }, async () => {
      const command = sh('i=0; while [ $i -lt 400 ]; do seq 1 10000; i=$((i+1)); done');
      const expected = createHash('sha256');
      const lines = Array.from({ length: 10_000 }, (_, at) => `${at + 1}\n`).join('');
      for (let i = 0; i < 400; i++) expected.update(lines);
      let output = await client.start({ command, acknowledge: true });
      const { id } = await output.started();
      const got = createHash('sha256');
      let acknowledged = 0;
      let cuts = 0;
      for (let frame = await output.next(); frame?.type !== 'exited'; frame = await output.next()) {
        assert.equal(frame?.type, 'stdout');
        got.update(frame.data);
        if (output.position.stdout - acknowledged < 1 << 20) continue;
        acknowledged = output.position.stdout;
        assert.equal((await client.post(id, 'acknowledge', output.position)).status, 200);
        if (++cuts % 4 !== 0) continue;
        output.cut();
        output = await client.reattach(id, output.position);
      }
      assert.ok(cuts > 10);
      assert.equal(got.digest('hex'), expected.digest('hex'));
    });

    test('the output of an ended process can be read again', async () => {
      const output = await client.start({ command: sh('echo first; echo second; exit 9') });
      const { id } = await output.started();
      await output.collect();
      const again = await (await client.reattach(id, { stdout: 6, stderr: 0 })).collect();
      assert.equal(again.stdout.toString(), 'second\n');
      assert.deepEqual(again.outcome, { type: 'exited', exit: { exitCode: 9 } });
    });

    test('a new reader takes over from the old one', async () => {
      const output = await client.start({ command: ['cat'], stdin: true });
      const { id } = await output.started();
      const second = await client.reattach(id, { stdout: 0, stderr: 0 });
      await assert.rejects(output.collect());
      await client.putStdin(id, Buffer.from('for the second'), 'offset=0&end=true');
      assert.equal((await second.collect()).stdout.toString(), 'for the second');
    });

    test('a timeout kills the whole group and says so', { timeout: 10_000 }, async () => {
      const startedAt = performance.now();
      const { stdout, outcome } = await client.run(sh('sleep 60 & echo on; sleep 60'), { timeoutMs: 300 });
      assert.equal(stdout.toString(), 'on\n');
      assert.deepEqual(outcome, { type: 'exited', exit: { signal: 'SIGKILL', timedOut: true } });
      assert.ok(performance.now() - startedAt < 5000);
    });

    test('a signal reaches every process of the group', { timeout: 10_000 }, async () => {
      const script =
        'sh -c \'trap "echo inner; exit" TERM; echo ready; while :; do sleep 0.05; done\' & trap "wait; echo outer; exit 7" TERM; wait';
      const output = await client.start({ command: sh(script) });
      const { id } = await output.started();
      await output.until(/ready/);
      assert.equal((await client.post(id, 'signal', { signal: 'SIGTERM' })).status, 200);
      const { stdout, outcome } = await output.collect();
      assert.match(stdout.toString(), /inner\nouter/);
      assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 7 } });
      assert.equal((await client.post(id, 'signal', { signal: 'SIGTERM' })).status, 409);
    });

    test('a descendant that holds the pipe does not hold up the exit', { timeout: 10_000 }, async () => {
      const output = await client.start({ command: sh('sleep 60 & echo last words; exit 4') });
      const { pid } = await output.started();
      const { stdout, outcome } = await output.collect();
      assert.equal(stdout.toString(), 'last words\n');
      assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 4 } });
      const killed = await client.run(sh(`kill -9 -${pid}`));
      assert.deepEqual(killed.outcome, { type: 'exited', exit: { exitCode: 0 } });
    });

    test('many processes run side by side', { timeout: 30_000 }, async () => {
      const runs = Array.from({ length: 40 }, async (_, at) => {
        const { stdout, outcome } = await client.run(sh(`sleep 0.1; echo ${at}; exit ${at}`));
        assert.equal(stdout.toString(), `${at}\n`);
        assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: at } });
      });
      await Promise.all(runs);
    });

    describe('with a terminal', () => {
      const terminal = { columns: 100, rows: 40 };

      test('the process has it as its controlling terminal, in the size asked for', async () => {
        const { stdout, outcome } = await client.run(sh('tty; stty size; echo here > /dev/tty; exit 6'), {
          terminal,
        });
        assert.match(stdout.toString(), /^\/dev\/pts\/\d+\r\n40 100\r\nhere\r\n$/);
        assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 6 } });
      });

      test('a resize is seen and signalled', { timeout: 10_000 }, async () => {
        const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.05; done';
        const output = await client.start({ command: sh(script), terminal });
        const { id } = await output.started();
        await output.until(/ready/);
        assert.equal((await client.post(id, 'resize', { columns: 50, rows: 20 })).status, 200);
        assert.match((await output.collect()).stdout.toString(), /20 50/);
      });

      test('what is typed is echoed, and Ctrl-D ends the input', { timeout: 10_000 }, async () => {
        const output = await client.start({ command: sh('cat; echo over'), terminal, stdin: true });
        const { id } = await output.started();
        await client.putStdin(id, Buffer.from('hi\n'), 'offset=0');
        await output.until(/hi\r\nhi\r\n/);
        await client.putStdin(id, Buffer.alloc(0), 'offset=3&end=true');
        assert.match((await output.collect()).stdout.toString(), /over/);
      });

      test('Ctrl-C interrupts what runs in the foreground', { timeout: 10_000 }, async () => {
        const output = await client.start({ command: ['cat'], terminal });
        const { id } = await output.started();
        await client.putStdin(id, Buffer.from('on\n'), 'offset=0');
        await output.until(/on\r\non\r\n/); // once from the terminal, once from cat, which is in charge now
        await client.putStdin(id, Buffer.from('\x03'), 'offset=3');
        assert.deepEqual((await output.collect()).outcome, { type: 'exited', exit: { signal: 'SIGINT' } });
      });

      test('death by a signal and a timeout are told as without one', { timeout: 10_000 }, async () => {
        const killed = await client.run(sh('kill -USR1 $$'), { terminal });
        assert.deepEqual(killed.outcome, { type: 'exited', exit: { signal: 'SIGUSR1' } });
        const late = await client.run(['sleep', '60'], { terminal, timeoutMs: 200 });
        assert.deepEqual(late.outcome, { type: 'exited', exit: { signal: 'SIGKILL', timedOut: true } });
      });

      test('much output arrives whole', { timeout: 30_000 }, async () => {
        const { stdout } = await client.run(['seq', '1', '200000'], { terminal });
        const expected = Array.from({ length: 200_000 }, (_, at) => `${at + 1}\r\n`).join('');
        assert.ok(stdout.equals(Buffer.from(expected)), `${stdout.length} of ${expected.length} bytes`);
      });

      test('a reader that stops reading stops the process', { timeout: 60_000 }, async (t) => {
        const script = 'f=$(mktemp); echo $f; i=0; while :; do seq 1 10000; i=$((i+1)); echo $i > $f; done';
        const output = await client.start({ command: sh(script), terminal });
        const { id } = await output.started();
        const file = (await output.until(/\n/)).split('\r\n')[0] ?? '';
        const progress = async () => Number((await client.run(['cat', file])).stdout.toString());
        let last = -1;
        for (let now = await progress(); now !== last; now = await progress()) {
          last = now;
          await client.run(['sleep', '0.3']);
        }
        t.diagnostic(`the process stood still after ${Math.round((last * 58_894) / 2 ** 20)} MiB`);
        assert.ok(last * 58_894 < 64 << 20, `${last} rounds`);
        await client.post(id, 'signal', { signal: 'SIGKILL' });
        await output.collect();
        await client.run(['rm', file]);
      });
    });

    describe('to hostile input', () => {
      const unknown = '00000000-0000-0000-0000-000000000000';
      const requests: { name: string; method?: string; path: string; body?: string; status: number }[] = [
        { name: 'an unknown path', method: 'GET', path: '/nothing', status: 404 },
        { name: 'a path with dot segments', method: 'GET', path: '/hutch/../', status: 404 },
        { name: 'an encoded slash', method: 'GET', path: '/hutch%2fv1%2fprocesses', status: 404 },
        { name: 'a doubled slash', method: 'GET', path: '//', status: 404 },
        { name: 'a trailing slash', path: `${processesPath}/`, body: '{}', status: 404 },
        { name: 'a wrong method', method: 'DELETE', path: processesPath, status: 405 },
        {
          name: 'an unknown process',
          method: 'GET',
          path: `${processesPath}/${unknown}/output`,
          status: 404,
        },
        { name: 'an odd process id', method: 'GET', path: `${processesPath}/..%2f..%2f/output`, status: 404 },
        {
          name: 'an overlong process id',
          method: 'GET',
          path: `${processesPath}/${'a'.repeat(500)}/output`,
          status: 404,
        },
        { name: 'no body', path: processesPath, status: 400 },
        { name: 'half JSON', path: processesPath, body: '{"command":["sh"', status: 400 },
        { name: 'JSON that is no object', path: processesPath, body: '[]', status: 400 },
        { name: 'null', path: processesPath, body: 'null', status: 400 },
        { name: 'bytes that are no text', path: processesPath, body: '\xff\xfe', status: 400 },
        { name: 'an empty command', path: processesPath, body: '{"command":[]}', status: 400 },
        { name: 'a shell string', path: processesPath, body: '{"command":"ls -l"}', status: 400 },
        { name: 'a number as argument', path: processesPath, body: '{"command":["sh",1]}', status: 400 },
        {
          name: 'NUL in an argument',
          path: processesPath,
          body: '{"command":["sh","\\u0000"]}',
          status: 400,
        },
        {
          name: 'a bad env name',
          path: processesPath,
          body: '{"command":["sh"],"env":{"A=B":"c"}}',
          status: 400,
        },
        {
          name: 'a bad env value',
          path: processesPath,
          body: '{"command":["sh"],"env":{"A":1}}',
          status: 400,
        },
        {
          name: 'a negative timeout',
          path: processesPath,
          body: '{"command":["sh"],"timeoutMs":-1}',
          status: 400,
        },
        {
          name: 'a terminal of no size',
          path: processesPath,
          body: '{"command":["sh"],"terminal":{}}',
          status: 400,
        },
        {
          name: 'a huge terminal',
          path: processesPath,
          body: '{"command":["sh"],"terminal":{"columns":70000,"rows":1}}',
          status: 400,
        },
        {
          name: 'a wrong lifetime',
          path: processesPath,
          body: '{"command":["sh"],"lifetime":"for ever"}',
          status: 400,
        },
        {
          name: 'a body that is too large',
          path: processesPath,
          body: `"${'x'.repeat(5 << 20)}"`,
          status: 413,
        },
      ];
      for (const { name: what, method = 'POST', path, body, status } of requests) {
        test(`${what} is answered ${status} with an error in JSON`, async () => {
          const answer = await client.ask(
            method,
            path,
            body === undefined ? undefined : Buffer.from(body, 'latin1'),
          );
          assert.equal(answer.status, status, JSON.stringify(answer));
          const error = answer.body as { code?: unknown; message?: unknown };
          assert.equal(typeof error.code, 'string');
          assert.equal(typeof error.message, 'string');
        });
      }

      for (const offset of ['-1', '1.5', 'x', '1e3', '99999999999999999999', '9007199254740993', '']) {
        test(`offset ${JSON.stringify(offset)} is refused`, async () => {
          const output = await client.start({ command: ['cat'], stdin: true });
          const { id } = await output.started();
          assert.equal((await client.putStdin(id, Buffer.from('x'), `offset=${offset}`)).status, 400);
          assert.equal(
            (await client.ask('GET', `${processesPath}/${id}/output?stdout=${offset}`)).status,
            400,
          );
          await client.putStdin(id, Buffer.alloc(0), 'offset=0&end=true');
          assert.equal((await output.collect()).outcome?.type, 'exited');
        });
      }

      test('an offset beyond the output is refused and leaves the reader attached', async () => {
        const output = await client.start({ command: ['cat'], stdin: true });
        const { id } = await output.started();
        assert.equal((await client.ask('GET', `${processesPath}/${id}/output?stdout=1`)).status, 400);
        await client.putStdin(id, Buffer.from('still here'), 'offset=0&end=true');
        assert.equal((await output.collect()).stdout.toString(), 'still here');
      });

      test('an unknown signal, stdin that was not asked for and a resize without terminal are refused', async () => {
        const output = await client.start({ command: ['sleep', '60'] });
        const { id } = await output.started();
        assert.equal((await client.post(id, 'signal', { signal: 'SIGNOPE' })).status, 400);
        assert.equal((await client.post(id, 'signal', { signal: 'constructor' })).status, 400);
        assert.equal((await client.putStdin(id, Buffer.from('x'), 'offset=0')).status, 409);
        assert.equal((await client.post(id, 'resize', { columns: 1, rows: 1 })).status, 409);
        assert.equal((await client.post(id, 'acknowledge', { stdout: 0, stderr: 0 })).status, 409);
        assert.equal((await client.post(id, 'signal', { signal: 'SIGKILL' })).status, 200);
        await output.collect();
      });

      test('headers without end are refused', async () => {
        const answer = await client
          .raw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`)
          .catch(String);
        assert.doesNotMatch(answer, /^HTTP\/1\.1 200/);
      });

      test('bytes that are no HTTP are refused', async () => {
        const answer = await client.raw('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n').catch(String);
        assert.doesNotMatch(answer, /^HTTP\/1\.1 200/);
      });

      test('it still answers after all of that', async () => {
        assert.equal((await client.ask('GET', '/')).status, 200);
        assert.equal((await client.run(['echo', 'alive'])).stdout.toString(), 'alive\n');
      });
    });
  });
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
