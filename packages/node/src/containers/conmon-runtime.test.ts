import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '@hutch/base';
import { type Tools, toolNames } from '../command.ts';
import { homeLayout } from '../home.ts';
import { makeHomeDirectories } from '../open-home.ts';
import { anExit } from '../test-objects.ts';
import { ConmonRuntime } from './conmon-runtime.ts';
import type { Sight } from './runtime.ts';

// looking starts no program
const tools = Object.fromEntries(toolNames.map((name) => [name, `/none/${name}`])) as Tools;

/** What is seen of a container that left these files. */
async function sightOf(files: Readonly<Record<string, string>>, reported?: string): Promise<Sight> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hutch-runtime-'));
  const home = homeLayout(dataDir);
  await makeHomeDirectories(home);
  const place = { id: 'box-0', directory: join(dataDir, 'box') };
  await mkdir(place.directory);
  for (const [name, text] of Object.entries(files)) await writeFile(join(place.directory, name), text);
  if (reported !== undefined) await writeFile(join(home.exits, place.id), reported);
  const runtime = new ConmonRuntime({ name: 'runc', program: tools.runc, tools, home, log: silentLog });
  try {
    return await runtime.look(place);
  } finally {
    runtime.close();
    await rm(dataDir, { recursive: true });
  }
}

test('a container whose first process is gone runs on until conmon has told its end', async () => {
  // stands for conmon, which has the id on its command line
  const conmon = spawn('sh', ['-c', 'read line', 'box-0'], { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(conmon, 'spawn');
  try {
    const sight = await sightOf({ started, 'conmon.pid': String(conmon.pid) });
    assert.deepEqual(sight, { type: 'running', pid: undefined, startedAt: started });
  } finally {
    conmon.stdin.end();
    await once(conmon, 'close');
  }
});

const started = '2030-01-01T00:00:00.000Z';
const unknown = 'ContainerStatusUnknown';

const cases: {
  name: string;
  files: Record<string, string>;
  reported?: string;
  want: string;
}[] = [
  { name: 'nothing', files: {}, want: 'absent' },
  { name: 'only its configuration', files: { 'config.json': '{}' }, want: 'absent' },
  { name: 'its end', files: { started, 'exit.json': JSON.stringify(anExit({ exitCode: 3 })) }, want: '3' },
  { name: 'its end as conmon told it', files: { started }, reported: '4', want: '4' },
  { name: 'an empty end, and conmon’s', files: { started, 'exit.json': '' }, reported: '4', want: '4' },
  { name: 'an empty end', files: { started, 'exit.json': '' }, want: `137 ${unknown}` },
  { name: 'an empty report', files: { started }, reported: '', want: `137 ${unknown}` },
  { name: 'a report full of zeros', files: { started }, reported: '\0\0', want: `137 ${unknown}` },
  { name: 'empty files only', files: { started: '', 'exit.json': '' }, want: `137 ${unknown}` },
];

for (const { name, files, reported, want } of cases) {
  test(`a container that left ${name} is seen as ${want}`, async () => {
    const sight = await sightOf(files, reported);
    if (sight.type !== 'exited') {
      assert.equal(sight.type, want);
      return;
    }
    const { exitCode, problem, startedAt, finishedAt } = sight.exit;
    assert.equal([exitCode, problem?.reason].filter((part) => part !== undefined).join(' '), want);
    for (const time of [startedAt, finishedAt]) assert.equal(new Date(time).toISOString(), time);
  });
}
