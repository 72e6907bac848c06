import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { load } from 'js-yaml';
import { Machine, skip, tracesOf } from './support.ts';

interface Kubeconfig {
  readonly clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  readonly users: { user: { token: string } }[];
}

/** What a plain HTTPS client sees with nothing but the kubeconfig's CA and token. */
async function getWithKubeconfig(file: string, path: string): Promise<{ status: number; body: unknown }> {
  const config = load(readFileSync(file, 'utf8')) as Kubeconfig;
  const { cluster } = config.clusters[0] as Kubeconfig['clusters'][0];
  const { user } = config.users[0] as Kubeconfig['users'][0];
  return new Promise((done, fail) => {
    const call = request(
      new URL(path, cluster.server),
      {
        ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
        headers: { authorization: `Bearer ${user.token}` },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          done({ status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) }),
        );
      },
    );
    call.on('error', fail);
    call.end();
  });
}

const names = (list: unknown) =>
  (list as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name).sort();
const bootId = ['cat', '/proc/1/stat'] as const;

/** The start time of PID 1 in a sandbox: the same only if it is the same process. */
async function mainProcess(machine: Machine, name: string): Promise<string> {
  const { stdout } = await machine.run(['exec', name, '--', ...bootId]);
  return stdout.split(' ')[21] ?? '';
}

describe('a home', { skip }, () => {
  test('keeps sandboxes that were asked to stay, lists them, runs more commands in them and removes them', async () => {
    await using machine = new Machine();
    await machine.up();
    const kept = await machine.run([
      'run',
      '--keep',
      '--name',
      'box',
      '--',
      'sh',
      '-c',
      'echo kept > /workspace/note',
    ]);
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stderr, /kept sandbox box/);
    assert.match((await machine.run(['ls'])).stdout, /^NAME +READY.*\nbox +True/);
    assert.equal((await machine.run(['exec', 'box', '--', 'cat', '/workspace/note'])).stdout, 'kept\n');
    assert.equal((await machine.run(['rm', 'box'])).stdout, 'box\n');
    assert.deepEqual(JSON.parse((await machine.run(['ls', '-o', 'json'])).stdout), []);
  });

  test('--keep without a home starts one and says so', async () => {
    await using machine = new Machine();
    const kept = await machine.run(['run', '--keep', '--name', 'box', '--', 'true']);
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stderr, /hutch up -d/);
    assert.equal((await machine.run(['exec', 'box', '--', 'echo', 'here'])).stdout, 'here\n');
  });

  test('hutch ls and a plain HTTPS client with the kubeconfig see the same objects, and a killed home has them again', async () => {
    await using machine = new Machine();
    const pid = await machine.up();
    for (const name of ['one', 'two'])
      assert.equal((await machine.run(['run', '--keep', '--name', name, '--', 'true'])).code, 0);
    const kubeconfig = (await machine.run(['kubeconfig'])).stdout.trim();
    const path = '/apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes';
    const seen = async () => {
      const listed = JSON.parse((await machine.run(['ls', '-o', 'json'])).stdout) as {
        metadata: { name: string; uid: string };
      }[];
      const served = await getWithKubeconfig(kubeconfig, path);
      assert.equal(served.status, 200);
      assert.deepEqual(listed.map(({ metadata }) => metadata.name).sort(), names(served.body));
      return listed.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort();
    };
    const before = await seen();
    process.kill(pid, 'SIGKILL');
    assert.notEqual(await machine.up(), pid);
    assert.deepEqual(await seen(), before);
  });

  test('after kill -9 the next start takes its sandboxes over as they run: same container, same process', async () => {
    await using machine = new Machine();
    const pid = await machine.up();
    await machine.run(['run', '--keep', '--name', 'box', '--', 'sh', '-c', 'echo 7 > /tmp/number']);
    const before = await mainProcess(machine, 'box');
    process.kill(pid, 'SIGKILL');
    await machine.up();
    assert.notEqual(before, '');
    assert.equal(await mainProcess(machine, 'box'), before);
    assert.equal((await machine.run(['exec', 'box', '--', 'cat', '/tmp/number'])).stdout, '7\n');
  });

  test('hutch down ends everything and leaves no trace; the next start has the objects again', async () => {
    await using machine = new Machine();
    await machine.run(['run', '--', 'true']);
    const before = tracesOf(machine.dataDir);
    await machine.up();
    await machine.run(['run', '--keep', '--name', 'box', '--', 'true']);
    assert.equal((await machine.run(['down'])).code, 0);
    assert.deepEqual(tracesOf(machine.dataDir), before);
    await machine.up();
    assert.match((await machine.run(['ls'])).stdout, /box/);
  });

  test('a second home on the same data directory is refused with the pid of the first', async () => {
    await using machine = new Machine();
    const pid = await machine.up();
    const second = await machine.run(['up']);
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`pid ${pid}`));
    assert.match(second.stderr, /hutch down/);
  });

  test('hutch logs prints what the main process wrote', async () => {
    await using machine = new Machine();
    await machine.up();
    const command = ['sh', '-c', 'echo from the main process; exec sleep 600'];
    assert.equal((await machine.create('box', { command })).status, 201);
    await machine.run(['exec', 'box', '--', 'true']); // it is ready now
    const logs = await machine.run(['logs', 'box']);
    assert.deepEqual([logs.code, logs.stdout], [0, 'from the main process\n'], logs.stderr);

    const following = machine.start(['logs', '-f', 'box']);
    await following.printed('from the main process');
    following.child.kill('SIGINT');
    assert.equal((await following.finished).code, 0);
  });

  test('after kill -9 the next start removes containers that the API knows nothing of', async () => {
    await using machine = new Machine();
    await machine.run(['run', '--', 'true']);
    const before = tracesOf(machine.dataDir);
    await machine.up();
    await machine.run(['down']);
    const store = join(machine.dataDir, 'store.db');
    copyFileSync(store, `${store}.before`);
    const pid = await machine.up();
    assert.equal((await machine.run(['run', '--keep', '--name', 'orphan', '--', 'true'])).code, 0);
    assert.equal(machine.containerPids().length, 1);
    process.kill(pid, 'SIGKILL');
    renameSync(`${store}.before`, store);
    rmSync(`${store}-wal`, { force: true });
    await machine.up();
    assert.deepEqual(JSON.parse((await machine.run(['ls', '-o', 'json'])).stdout), []);
    // A fresh sandbox needs the node, which has looked at its ledger before it takes new work.
    assert.equal((await machine.run(['run', '--', 'true'])).code, 0);
    await machine.run(['down']);
    assert.deepEqual(tracesOf(machine.dataDir), before);
  });

  test('ten sandboxes at once all work in one home', async () => {
    await using machine = new Machine();
    await machine.up();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => machine.run(['run', '--', 'sh', '-c', `echo ${index}`])),
    );
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      Array.from({ length: 10 }, (_, index) => `${index}\n`),
    );
  });

  test('its files hold no secret that another user could read', async () => {
    await using machine = new Machine();
    await machine.up();
    for (const name of ['admin.token', 'kubeconfig', 'endpoint.json', 'store.db']) {
      assert.equal(statSync(join(machine.dataDir, name)).mode & 0o077, 0, `${name} is private`);
    }
  });
});
