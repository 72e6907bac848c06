import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Log, silentLog } from '@hutch/base';
import { readRecord, replaceFile } from './files.ts';
import { homeLayout, podLayout } from './home.ts';
import { readHomeNames } from './open-home.ts';
import { readLedger } from './pods/ledger.ts';

async function temporaryDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'hutch-files-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** Keeps the paths it is warned of. */
function warnings(): { paths: unknown[]; log: Log } {
  const paths: unknown[] = [];
  return { paths, log: { ...silentLog, warn: (_, fields) => void paths.push(fields?.path) } };
}

for (const { name, text, isDamaged } of [
  { name: 'empty, as after a loss of power', text: '', isDamaged: true },
  { name: 'cut off', text: '{"index":', isDamaged: true },
  { name: 'full of zeros', text: '\0\0\0\0', isDamaged: true },
  { name: 'not there', text: undefined, isDamaged: false },
]) {
  test(`a record that is ${name} is taken as absent`, async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, 'record.json');
    if (text !== undefined) await writeFile(path, text);
    const { paths, log } = warnings();
    assert.equal(await readRecord(path, log), undefined);
    assert.deepEqual(paths, isDamaged ? [path] : []);
  });
}

test('a record comes back as it was put', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'new', 'record.json');
  replaceFile(path, '{"index":3}');
  assert.deepEqual(await readRecord(path, silentLog), { index: 3 });
});

test('a home whose records are empty is one without a network and with nameless pods', async () => {
  await using directory = await temporaryDirectory();
  const home = homeLayout(directory.path);
  const pod = podLayout(home, 'uid-1');
  await mkdir(pod.root, { recursive: true });
  await writeFile(home.homeFile, '');
  await writeFile(pod.ledger, '');
  const { paths, log } = warnings();
  assert.equal(await readHomeNames(home, log), undefined);
  assert.deepEqual(await readLedger(home, log), [{ uid: 'uid-1', namespace: '', name: '' }]);
  assert.deepEqual(paths, [home.homeFile, pod.ledger]);
});
