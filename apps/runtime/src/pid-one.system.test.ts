/** The compiled runtime as the first process of a sandbox: in an empty root, and as the parent of orphans. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { RuntimeClient } from './testing/client.ts';
import { compiledRuntime, spawnThroughLoader, startCompiled, throughLoader } from './testing/compiled.ts';

const needsRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root for namespaces' };
const stdio: ['ignore', 'inherit', 'inherit'] = ['ignore', 'inherit', 'inherit'];

/** Its own pid and mount namespaces, which take everything along when they end. */
function inNamespaces(script: string): ChildProcess {
  return spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', script], { stdio });
}

/** The process inside, as seen from outside. */
function insider(unshare: ChildProcess): number {
  return Number(readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim());
}

describe('the compiled runtime as PID 1', needsRoot, () => {
  test('it serves in a root that holds nothing but itself', { timeout: 20_000 }, async () => {
    const runtime = await compiledRuntime();
    const root = mkdtempSync(join(tmpdir(), 'empty-root-'));
    for (const directory of ['.hutch', 'proc', 'dev']) mkdirSync(join(root, directory));
    writeFileSync(join(root, 'dev/null'), '');
    try {
      const [loader, ...args] = throughLoader('/.hutch', []).flat();
      await using served = await startCompiled(
        (serve) =>
          inNamespaces(`
          mount --bind ${runtime} ${root}/.hutch
          mount -t proc proc ${root}/proc
          mount --bind /dev/null ${root}/dev/null
          exec chroot ${root} ${[loader, ...args, ...serve].join(' ')}`),
        insider,
      );
      const client = new RuntimeClient(served.port);
      const { stdout, outcome } = await client.run(['/.hutch/lib/ld.so', '--version']);
      assert.match(stdout.toString(), /^ld\.so/);
      assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 0 } });
      const missing = await client.run(['sh']);
      assert.equal(missing.outcome?.type, 'failed');
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  test('orphans are reaped, and its own children still report their status', {
    timeout: 20_000,
  }, async () => {
    const runtime = await compiledRuntime();
    await using served = await startCompiled(
      (serve) =>
        inNamespaces(`mount -t proc proc /proc; exec ${throughLoader(runtime, serve).flat().join(' ')}`),
      insider,
    );
    const client = new RuntimeClient(served.port);
    const orphans = Array.from({ length: 20 }, () => client.run(['sh', '-c', '(sleep 0.1 &) ; exit 3']));
    for (const { outcome } of await Promise.all(orphans)) {
      assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 3 } });
    }
    const left = 'grep -qE "^(State:.Z|Name:.sleep)" /proc/[0-9]*/status 2>/dev/null';
    const untilNone = `while ${left}; do sleep 0.05; done`;
    const { outcome } = await client.run(['sh', '-c', untilNone], { timeoutMs: 5000 });
    assert.deepEqual(outcome, { type: 'exited', exit: { exitCode: 0 } }, 'orphans are left');
  });

  test('SIGTERM ends it at once, with all that runs in it', { timeout: 20_000 }, async () => {
    const runtime = await compiledRuntime();
    const served = await startCompiled(
      (serve) =>
        inNamespaces(`mount -t proc proc /proc; exec ${throughLoader(runtime, serve).flat().join(' ')}`),
      insider,
    );
    const client = new RuntimeClient(served.port);
    const stubborn = await client.start({ command: ['sh', '-c', 'trap "" TERM; echo on; sleep 60'] });
    await stubborn.started();
    await stubborn.until(/on/);
    const startedAt = performance.now();
    const gone = once(served.child, 'exit');
    process.kill(insider(served.child), 'SIGTERM');
    assert.deepEqual(await gone, [0, null]);
    assert.ok(performance.now() - startedAt < 2000);
    await assert.rejects(stubborn.collect());
  });
});

describe('the compiled runtime with a command of its own', () => {
  const cases = [
    { name: 'exits as the command does', command: ['sh', '-c', 'exit 7'], status: 7 },
    { name: 'tells a death by signal as a shell does', command: ['sh', '-c', 'kill -USR1 $$'], status: 138 },
    { name: 'says 127 for a command that is not there', command: ['no-such-command'], status: 127 },
    { name: 'says 126 for one that cannot be run', command: ['/proc/self/status'], status: 126 },
  ];
  for (const { name, command, status } of cases) {
    test(name, { timeout: 20_000 }, async () => {
      const runtime = await compiledRuntime();
      const child = spawnThroughLoader(runtime, ['serve', '--port', '0', '--', ...command]);
      assert.deepEqual(await once(child, 'exit'), [status, null]);
    });
  }

  test('SIGTERM is passed on and the command decides', { timeout: 20_000 }, async () => {
    const runtime = await compiledRuntime();
    const command = ['sh', '-c', 'trap "exit 9" TERM; echo on; while :; do sleep 0.05; done'];
    const [loader, args] = throughLoader(runtime, ['serve', '--port', '0', '--', ...command]);
    const child = spawn(loader, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [9, null]);
  });

  test('the standard streams of a process can be opened by name', { timeout: 20_000 }, async () => {
    const runtime = await compiledRuntime();
    await using served = await startCompiled((args) => spawnThroughLoader(runtime, args));
    const client = new RuntimeClient(served.port);
    const script = 'cat /dev/stdin > /dev/stdout; echo err > /dev/stderr';
    const output = await client.start({ command: ['sh', '-c', script], stdin: true });
    const { id } = await output.started();
    await client.putStdin(id, Buffer.from('in'), 'offset=0&end=true');
    const { stdout, stderr } = await output.collect();
    assert.deepEqual([stdout.toString(), stderr.toString()], ['in', 'err\n']);
  });
});
