/** An agent killed at any moment of a start leaves nothing that a sweep does not find. Needs root. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@hutch/base';
import { homeLayout } from './home.ts';
import { readHomeNames } from './open-home.ts';
import { sweepHome } from './sweep.ts';
import { tracesOf } from './test-home.ts';

describe('an agent that is killed', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'hutch-crash-'));
  });
  after(async () => {
    await rm(root, { recursive: true, force: true });
  });

  for (const dieAfterMs of [20, 50, 70, 90, 110, 130, 150, 180, 220]) {
    test(`after ${dieAfterMs} ms leaves nothing behind once swept`, async () => {
      const dataDir = join(root, String(dieAfterMs));
      const program = fileURLToPath(import.meta.resolve('./test-crash-agent.ts'));
      const args = [program, dataDir, join(root, 'images'), String(dieAfterMs)];
      await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
      const names = await readHomeNames(homeLayout(dataDir), silentLog);
      assert.deepEqual((await sweepHome({ dataDir, log: silentLog })).failures, []);
      if (names) assert.deepEqual(await tracesOf(dataDir, names), []);
    });
  }
});
