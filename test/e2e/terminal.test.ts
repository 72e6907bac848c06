import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { spawn } from 'zigpty';
import { Machine, root, skip } from './support.ts';

/** A terminal with Hutch in it, typed into and read from. */
function openTerminal(args: readonly string[]) {
  const pty = spawn(join(root, 'hutch'), [...args], { cols: 80, rows: 24, name: 'xterm' });
  let seen = '';
  const waiting = new Set<() => void>();
  pty.onData((data: string | Uint8Array) => {
    seen += typeof data === 'string' ? data : Buffer.from(data).toString();
    for (const wake of waiting) wake();
  });
  const exited = new Promise<number>((done) =>
    pty.onExit(({ exitCode }: { exitCode: number }) => done(exitCode)),
  );
  const shows = (pattern: RegExp) =>
    new Promise<string>((done, fail) => {
      const look = () => {
        const match = pattern.exec(seen);
        if (!match) return;
        waiting.delete(look);
        done(match[0]);
      };
      waiting.add(look);
      look();
      void exited.then(() => fail(new Error(`ended without showing ${pattern}: ${JSON.stringify(seen)}`)));
    });
  return { pty, shows, exited };
}

describe('hutch run --tty', { skip }, () => {
  test('gives a working terminal that knows its size, follows a resize and passes Ctrl-C to the command', {
    timeout: 60_000,
  }, async () => {
    await using machine = new Machine();
    await machine.up();
    const { pty, shows, exited } = openTerminal(['run', '--data-dir', machine.dataDir, '-t', '--', 'sh']);
    pty.write('test -t 0 && test -t 1 && stty size && echo is""-a-terminal\n');
    await shows(/24 80/);
    await shows(/is-a-terminal/);
    pty.resize(100, 40);
    pty.write('until [ "$(stty size)" = "40 100" ]; do sleep 0.05; done; echo resi""zed\n');
    await shows(/resized/);
    pty.write(`sh -c 'echo sle""eping; exec sleep 600'\n`);
    await shows(/sleeping/);
    pty.write('\x03');
    pty.write('echo after-""interrupt\n');
    await shows(/after-interrupt/);
    pty.write('exit 9\n');
    assert.equal(await exited, 9);
  });

  test('is refused without a terminal', async () => {
    await using machine = new Machine();
    const result = await machine.run(['run', '-t', '--', 'true']);
    assert.equal(result.code, 125);
    assert.match(result.stderr, /terminal/);
  });
});
