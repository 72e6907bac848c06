import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { createKubeClient, overHttp } from '@hutch/kube-client';
import { configMaps, type Namespace, namespaces } from '@hutch/kube-meta';
import { whyNoKubeRig } from './requirements.ts';
import { type KubeRig, openKubeRig } from './rig.ts';

const never = new AbortController().signal;
const skip = (await whyNoKubeRig({ signal: never, say: console.error })) ?? false;

describe('a Kubernetes rig', { skip }, () => {
  test('two at once are two clusters, and leave nothing behind', async (t) => {
    const opened = await Promise.all([openKubeRig({ signal: t.signal }), openKubeRig({ signal: t.signal })]);
    for (const [index, rig] of opened.entries()) {
      await using transport = overHttp({ ...rig, token: rig.adminToken });
      const client = createKubeClient(transport);
      const metadata = { name: `only-in-${index}`, namespace: 'default' };
      await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      const { items } = await client.list(configMaps, { namespace: 'default' });
      const names = items.map((item) => item.metadata.name).filter((name) => name.startsWith('only'));
      assert.deepEqual(names, [`only-in-${index}`]);
    }
    await Promise.all(opened.map((rig) => rig.stop()));
    for (const rig of opened) assertNothingLeft(rig);
  });

  test('what is asked for is started, and users have their tokens', async (t) => {
    const users = [{ token: 'of-eve', name: 'eve', groups: ['strangers'] }];
    await using rig = await openKubeRig({
      signal: t.signal,
      controllers: [],
      scheduler: true,
      durable: true,
      users,
    });
    assert.deepEqual(Object.keys(rig.pids), ['etcd', 'kube-apiserver', 'kube-scheduler']);
    await using transport = overHttp({ url: rig.url, ca: rig.ca, token: 'of-eve' });
    await assert.rejects(createKubeClient(transport).list<Namespace>(namespaces), /"eve" cannot list/);
  });

  test('a component that dies is told at the end, with its last words', async (t) => {
    const rig = await openKubeRig({ signal: t.signal, controllers: [] });
    process.kill(rig.pids.etcd as number, 'SIGKILL');
    await exitOf(rig.pids.etcd as number);
    await assert.rejects(rig.stop(), /etcd ended by itself \(SIGKILL\)/);
    assertNothingLeft(rig);
  });

  test('a bad flag fails the opening with what the server said', async (t) => {
    const opening = openKubeRig({ signal: t.signal, apiserverFlags: ['--no-such-flag'] });
    await assert.rejects(opening, /kube-apiserver ended by itself \(status 1\).*no-such-flag/s);
  });

  test('all of it goes when its owner is killed', async () => {
    const script = `
      import { openKubeRig } from ${JSON.stringify(join(import.meta.dirname, 'rig.ts'))};
      const { pids, directory } = await openKubeRig({ signal: new AbortController().signal });
      console.log(JSON.stringify({ pids, directory }));
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
    const rig = JSON.parse(line) as Pick<KubeRig, 'pids' | 'directory'>;
    owner.kill('SIGKILL');
    for (const pid of Object.values(rig.pids)) await exitOf(pid);
    await until(() => !existsSync(rig.directory));
    assertNothingLeft(rig);
  });
});

function assertNothingLeft({ pids, directory }: Pick<KubeRig, 'pids' | 'directory'>): void {
  assert.ok(!existsSync(directory), directory);
  for (const [name, pid] of Object.entries(pids)) assert.ok(!isAlive(pid), name);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function exitOf(pid: number): Promise<void> {
  await until(() => !isAlive(pid));
}

/** The end of a process that is not our child has no event: look again at every turn, for a bounded time. */
async function until(holds: () => boolean): Promise<void> {
  const endsAt = performance.now() + 20_000;
  while (!holds()) {
    assert.ok(performance.now() < endsAt, 'it took too long');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
