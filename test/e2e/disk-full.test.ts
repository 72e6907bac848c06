import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Machine, skip } from './support.ts';

/** A data directory on a small disk of its own. */
class SmallDisk extends Machine {
  constructor() {
    super();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', this.dataDir]);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.run(['down']);
    execFileSync('umount', [this.dataDir]);
    await super[Symbol.asyncDispose]();
  }
}

describe('when the disk is full', { skip }, () => {
  test('a write that cannot be kept is refused with a reason, and nothing acknowledged is lost', async () => {
    await using machine = new SmallDisk();
    await machine.up();
    const acknowledged: string[] = [];
    let refusal: { status: number; text: string } | undefined;
    for (let count = 0; refusal === undefined && count < 200; count++) {
      const name = `box-${count}`;
      const answer = await create(machine, name, 'x'.repeat(200_000));
      if (answer.status === 201) acknowledged.push(name);
      else refusal = answer;
    }
    assert.ok(refusal, 'a disk of 24 MB is full sooner');
    assert.ok(refusal.status >= 500, String(refusal.status));
    assert.match(refusal.text, /full|space/i);

    // Not even a crash in this state loses what was acknowledged.
    process.kill(machine.endpoint().pid, 'SIGKILL');
    execFileSync('mount', ['-o', 'remount,size=64m', machine.dataDir]);
    await machine.up();
    const list = JSON.parse((await machine.run(['ls', '-o', 'json'])).stdout) as {
      metadata: { name: string };
    }[];
    assert.deepEqual(list.map(({ metadata }) => metadata.name).sort(), acknowledged.toSorted());
    assert.equal((await create(machine, 'after', 'small')).status, 201, 'with room again, it goes on');
  });

  test('hutch run says so when there is no room for a sandbox', async () => {
    await using machine = new SmallDisk();
    await machine.run(['run', '--', 'true']);
    const filler = join(machine.dataDir, 'filler');
    try {
      writeFileSync(filler, Buffer.alloc(64 << 20));
    } catch {
      // that was the point
    }
    const result = await machine.run(['run', '--', 'true']);
    assert.equal(result.code, 125);
    assert.match(result.stderr, /space/i);
    rmSync(filler);
    assert.equal((await machine.run(['run', '--', 'true'])).code, 0, 'with room again, it works');
  });
});

/** A suspended sandbox takes room in the store and none anywhere else. */
function create(machine: Machine, name: string, note: string): Promise<{ status: number; text: string }> {
  return machine.create(name, { env: [{ name: 'NOTE', value: note }] }, { operatingMode: 'Suspended' });
}
