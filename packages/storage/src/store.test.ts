/** What happens while a commit is under way, and when it fails: with a driver that waits to be told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Commit, Driver } from './driver.ts';
import type { Decision } from './storage.ts';
import { Store } from './store.ts';

const put = (value: unknown) => (): Decision => ({ type: 'put', value });

/** Hands every commit to the test, which lets it succeed or fail. */
class GatedDriver implements Driver {
  readonly commits: Commit[] = [];
  readonly #gates: PromiseWithResolvers<void>[] = [];
  #arrived = Promise.withResolvers<void>();

  load() {
    return { entries: [], history: [] };
  }

  commit(commit: Commit): Promise<void> {
    this.commits.push(commit);
    const gate = Promise.withResolvers<void>();
    this.#gates.push(gate);
    this.#arrived.resolve();
    return gate.promise;
  }

  close() {}

  async next(): Promise<PromiseWithResolvers<void>> {
    await this.#arrived.promise;
    const gate = this.#gates.shift() as PromiseWithResolvers<void>;
    if (this.#gates.length === 0) this.#arrived = Promise.withResolvers();
    return gate;
  }
}

test('writes that arrive during a commit share the next one', async () => {
  const driver = new GatedDriver();
  await using store = new Store(driver);
  const first = store.write('/a', put(1));
  const gate = await driver.next();
  const later = [store.write('/a', put(2)), store.write('/b', put(3))];
  gate.resolve();
  await first;
  (await driver.next()).resolve();
  await Promise.all(later);
  assert.deepEqual(
    driver.commits.map(({ writes }) => writes.length),
    [1, 2],
  );
});

test('a failed commit fails its writes and those that were decided meanwhile; the store goes on', async () => {
  const driver = new GatedDriver();
  await using store = new Store(driver);
  const kept = store.write('/a', put('kept'));
  (await driver.next()).resolve();
  const before = await kept;

  const lost = store.write('/a', put('lost'));
  const gate = await driver.next();
  const builtOn = store.write('/a', (head) => ({ type: 'put', value: [head?.value] }));
  gate.reject(new Error('disk full'));
  for (const write of [lost, builtOn]) {
    await assert.rejects(write, { code: 'unavailable', message: 'commit 1 writes: disk full' });
  }
  assert.deepEqual(store.get('/a'), before);

  const again = store.write('/a', (head) => ({ type: 'put', value: [head?.value] }));
  (await driver.next()).resolve();
  const entry = await again;
  assert.deepEqual(entry?.value, ['kept']);
  assert.ok((entry?.revision ?? 0) > (before?.revision ?? 0) + 2, 'failed revisions are not given out again');
});

test('a refusal that rests on a pending head waits for it, and becomes its failure', async () => {
  const driver = new GatedDriver();
  await using store = new Store(driver);
  const create = () =>
    store.write('/a', (head) => {
      if (head) throw new Error('already exists');
      return { type: 'put', value: 1 };
    });
  const lost = create();
  const refused = create();
  (await driver.next()).reject(new Error('disk full'));
  await assert.rejects(lost, { code: 'unavailable' });
  await assert.rejects(refused, { code: 'unavailable' });

  const made = create();
  const refusedAgain = create();
  (await driver.next()).resolve();
  await made;
  await assert.rejects(refusedAgain, { message: 'already exists' });
});

test('keeping a pending head waits until it is durable', async () => {
  const driver = new GatedDriver();
  await using store = new Store(driver);
  const write = store.write('/a', put(1));
  const keep = store.write('/a', () => ({ type: 'keep' }));
  (await driver.next()).reject(new Error('disk full'));
  await assert.rejects(write, { code: 'unavailable' });
  await assert.rejects(keep, { code: 'unavailable' });
});

test('history shrinks while commits fail, to make room', async () => {
  const driver = new GatedDriver();
  await using store = new Store(driver, { historyLimit: 16 });
  for (let count = 0; count < 16; count++) {
    const write = store.write('/a', put(count));
    (await driver.next()).resolve();
    await write;
  }
  assert.equal(driver.commits.at(-1)?.keepHistoryFrom, 0);
  const failed = store.write('/a', put('full'));
  (await driver.next()).reject(new Error('disk full'));
  await assert.rejects(failed);
  const again = store.write('/a', put('again'));
  (await driver.next()).resolve();
  await again;
  assert.equal(store.revision - store.oldestRevision, 9);
});

test('a write inside a decision is a bug and is told', async () => {
  const driver = new GatedDriver();
  await using store = new Store(driver);
  let inner: Promise<unknown> | undefined;
  const outer = store.write('/a', () => {
    inner = store.write('/b', put(1));
    return { type: 'keep' };
  });
  await outer;
  await assert.rejects(inner ?? Promise.resolve(), /inside the decision/);
});
