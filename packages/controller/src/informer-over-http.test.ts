/** The informer on the real API server over real connections, which break. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Draft, type Secret, secrets } from '@hutch/kube-meta';
import { openMemoryHome } from '@hutch/testing';
import { createInformer } from './informer.ts';

const draft = (name: string): Draft<Secret> => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name },
});

test('what happened while the server was away is told in order, once, when it is back', async () => {
  await using home = await openMemoryHome({ door: 'http' });
  const stop = new AbortController();
  const informer = createInformer<Secret>({ client: home.client, resource: secrets });
  const changes: string[] = [];
  informer.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
  const running = informer.run(stop.signal);
  await informer.synced;

  const seen = (name: string) =>
    informer.waitFor({ namespace: 'default', name }, Boolean, AbortSignal.timeout(10_000));
  await home.local.create<Secret>(secrets, draft('before'));
  await seen('before');
  for (const round of [1, 2]) {
    await home.interrupt(async () => {
      await home.local.create<Secret>(secrets, draft(`away-${round}`));
      await home.local.patch(secrets, { namespace: 'default', name: 'before' }, { data: { round: 'eA==' } });
      await home.local.delete(secrets, { namespace: 'default', name: `away-${round}` });
    });
    await home.local.create<Secret>(secrets, draft(`back-${round}`));
    await seen(`back-${round}`);
  }
  assert.deepEqual(changes, [
    'added before',
    'added away-1',
    'modified before',
    'deleted away-1',
    'added back-1',
    'added away-2',
    'deleted away-2',
    'added back-2',
  ]);
  stop.abort();
  await running;
});
