import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cacheName, cachePlace, ensureMade, type Making } from './cache.ts';

const making: Making = { signal: new AbortController().signal, say: () => {} };

/** A cache of the test's own, while it is held. */
function ownCache(): Disposable {
  const before = process.env.XDG_CACHE_HOME;
  const directory = mkdtempSync(join(tmpdir(), 'hutch-cache-'));
  process.env.XDG_CACHE_HOME = directory;
  return {
    [Symbol.dispose]() {
      if (before === undefined) delete process.env.XDG_CACHE_HOME;
      else process.env.XDG_CACHE_HOME = before;
      rmSync(directory, { recursive: true });
    },
  };
}

test('a thing is made once, however many ask for it at the same time', async () => {
  using _cache = ownCache();
  let makers = 0;
  const make = async (directory: string) => {
    makers += 1;
    writeFileSync(join(directory, 'file'), 'made');
  };
  const places = await Promise.all(Array.from({ length: 4 }, () => ensureMade('thing-1', making, make)));
  assert.equal(makers, 1);
  assert.deepEqual(new Set(places), new Set([cachePlace('thing-1')]));
  assert.equal(await readFile(join(cachePlace('thing-1'), 'file'), 'utf8'), 'made');
});

test('a maker that fails leaves nothing that looks made, and the next one starts clean', async () => {
  using _cache = ownCache();
  const failing = async (directory: string) => {
    writeFileSync(join(directory, 'half'), '');
    throw new Error('no disk');
  };
  await assert.rejects(ensureMade('thing-2', making, failing), /no disk/);
  assert.ok(!existsSync(cachePlace('thing-2')));
  const place = await ensureMade('thing-2', making, async () => {});
  assert.deepEqual(readdirSync(place), []);
});

test('who waits for another maker can be stopped', async () => {
  using _cache = ownCache();
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const first = ensureMade('thing-3', making, () => {
    begun.resolve();
    return release.promise;
  });
  await begun.promise;
  const second = ensureMade('thing-3', { ...making, signal: stop.signal }, async () => {});
  stop.abort(new Error('enough'));
  await assert.rejects(second, /enough/);
  release.resolve();
  assert.equal(await first, cachePlace('thing-3'));
});

test('a name changes with each part and with where one part ends and the next begins', () => {
  const names = [['ab', 'c'], ['a', 'bc'], ['ab'], ['ab', 'd']].map((parts) => cacheName('x', parts));
  assert.equal(new Set(names).size, names.length);
  assert.match(names[0] as string, /^x-[0-9a-f]{16}$/);
});
