import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readinessOf } from './readiness.ts';
import type { SandboxObject } from './sandbox-api.ts';
import type { Stage } from './sandboxes.ts';
import { type FakeHome, heldSandbox, startHome, withReady } from './test-rig.ts';

const only = (home: FakeHome): SandboxObject => [...home.objects.values()][0] as SandboxObject;

describe('creating a sandbox', () => {
  test('resolves when it is ready, and tells the stages on the way', async () => {
    await using home = await startHome();
    const stages: Stage[] = [];
    const creating = home.hutch.sandboxes.create(
      { generateName: 'run-', env: { A: '1' } },
      { onStage: (stage) => stages.push(stage) },
    );
    await home.nextWatch();
    home.put(
      withReady(only(home), {
        status: 'False',
        reason: 'DependenciesNotReady',
        message: 'Pod does not exist',
      }),
    );
    home.put(withReady(only(home)));
    const sandbox = await creating;
    assert.match(sandbox.name, /^run-[b-z2-9]{8}$/);
    assert.equal(sandbox.namespace, 'default');
    assert.deepEqual(sandbox.object.spec.podTemplate.spec.containers[0]?.env, [{ name: 'A', value: '1' }]);
    assert.deepEqual(stages, [
      { type: 'created', name: sandbox.name },
      { type: 'waiting', reason: 'Pending', message: 'no status yet' },
      { type: 'waiting', reason: 'DependenciesNotReady', message: 'Pod does not exist' },
      { type: 'ready' },
    ]);
    assert.equal(home.requests.filter((request) => request.includes('watch=true')).length, 1, 'no polling');
  });

  test('goes on after a watch that broke, was ended or fell behind', async () => {
    await using home = await startHome();
    const creating = home.hutch.sandboxes.create({ name: 'a' });
    (await home.nextWatch()).destroy();
    home.watches = [];
    (await home.nextWatch()).end();
    home.watches = [];
    (await home.nextWatch()).write('{"type":"ERROR","object":{"code":410,"message":"too old"}}\n');
    home.watches = [];
    await home.nextWatch();
    home.put(withReady(only(home)));
    assert.equal((await creating).name, 'a');
  });

  test('rejects at once when it can never be ready, with the reason, and removes it', async () => {
    await using home = await startHome();
    const creating = home.hutch.sandboxes.create({ name: 'a' });
    await home.nextWatch();
    home.put(withReady(only(home), { status: 'False', reason: 'PodFailed', message: 'Pod failed' }));
    await assert.rejects(creating, {
      name: 'SandboxFailed',
      code: 'unavailable',
      reason: 'PodFailed',
      message: 'sandbox default/a failed: PodFailed: Pod failed',
    });
    assert.equal(home.objects.size, 0);
  });

  test('rejects when time is up, saying what it waited for, and removes it', async () => {
    await using home = await startHome();
    await assert.rejects(home.hutch.sandboxes.create({ name: 'a' }, { timeoutMs: 50 }), {
      code: 'timeout',
      message: 'sandbox default/a was not ready (Pending: no status yet) within 50 ms',
    });
    assert.equal(home.objects.size, 0);
  });

  test('rejects with the reason of its signal, and removes it', async () => {
    await using home = await startHome();
    const abort = new AbortController();
    const creating = home.hutch.sandboxes.create({ name: 'a' }, { signal: abort.signal });
    await home.nextWatch();
    const reason = new Error('changed my mind');
    abort.abort(reason);
    await assert.rejects(creating, reason);
    assert.equal(home.objects.size, 0);
  });

  test('rejects when somebody deletes it meanwhile', async () => {
    await using home = await startHome();
    const creating = home.hutch.sandboxes.create({ name: 'a' });
    await home.nextWatch();
    home.put(only(home), 'DELETED');
    await assert.rejects(creating, { code: 'not-found', message: 'sandbox default/a was deleted' });
  });

  test('tells a name that is taken, and leaves the other alone', async () => {
    await using home = await startHome();
    await heldSandbox(home);
    await assert.rejects(home.hutch.sandboxes.create({ name: 'a' }), {
      code: 'already-exists',
      message: 'create sandbox default/a: "a" already exists',
    });
    assert.equal(home.objects.size, 1);
  });

  test('tells a router that cannot be reached', async () => {
    const home = await startHome();
    await home[Symbol.asyncDispose]();
    await assert.rejects(home.hutch.sandboxes.create({ name: 'a' }), {
      code: 'unavailable',
      message: /^create sandbox default\/a: reach http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    });
  });
});

describe('sandboxes', () => {
  test('are listed, got, deleted', async () => {
    await using home = await startHome();
    await heldSandbox(home);
    const { sandboxes } = home.hutch;
    assert.deepEqual(
      (await sandboxes.list()).map(({ metadata }) => metadata.name),
      ['a'],
    );
    assert.equal((await sandboxes.get('a')).name, 'a');
    await sandboxes.delete('a');
    assert.deepEqual(await sandboxes.list(), []);
    await assert.rejects(sandboxes.get('a'), { code: 'not-found' });
    await assert.rejects(sandboxes.delete('a'), { code: 'not-found' });
  });

  test('are removed at the end of their scope, and it is fine when they are gone already', async () => {
    await using home = await startHome();
    {
      await using _sandbox = await heldSandbox(home);
    }
    assert.equal(home.objects.size, 0);
    const sandbox = await heldSandbox(home);
    await sandbox.delete();
    await sandbox.delete();
  });

  test('have a log', async () => {
    await using home = await startHome();
    const sandbox = await heldSandbox(home);
    let text = '';
    for await (const chunk of sandbox.logs({ follow: true })) text += new TextDecoder().decode(chunk);
    assert.equal(text, 'log /api/v1/namespaces/default/pods/a/log?follow=true');
  });

  test('may be asked for with a token that changes', async () => {
    await using home = await startHome();
    await heldSandbox(home);
    const seen: (string | null)[] = [];
    const { Hutch } = await import('./hutch.ts');
    let count = 0;
    const hutch = new Hutch({
      url: `${home.url}/`,
      token: () => `token-${++count}`,
      fetch: (url, init) => {
        seen.push(new Headers(init.headers).get('authorization'));
        return fetch(url, init);
      },
    });
    await hutch.sandboxes.list();
    await hutch.sandboxes.list();
    assert.deepEqual(seen, ['Bearer token-1', 'Bearer token-2']);
  });
});

describe('readiness', () => {
  const base = { metadata: { generation: 2 } } as SandboxObject;
  const cases: { name: string; object: SandboxObject; want: string }[] = [
    { name: 'waits without a status', object: base, want: 'waiting' },
    {
      name: 'is there when Ready is true',
      object: withReady(base, { observedGeneration: 2 }),
      want: 'ready',
    },
    {
      name: 'does not believe an older generation',
      object: withReady(base, { observedGeneration: 1 }),
      want: 'waiting',
    },
    {
      name: 'waits for what may still come',
      object: withReady(base, { status: 'False', reason: 'ReconcilerError', observedGeneration: 2 }),
      want: 'waiting',
    },
    {
      name: 'gives up on a spec that is wrong',
      object: withReady(base, { status: 'False', reason: 'InvalidConfiguration', observedGeneration: 2 }),
      want: 'failed',
    },
  ];
  for (const { name, object, want } of cases) test(name, () => assert.equal(readinessOf(object).type, want));
});
