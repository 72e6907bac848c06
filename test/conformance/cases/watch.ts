import { area } from '../harness/case.ts';
import { at, type JsonRecord } from '../harness/json.ts';
import type { Scene } from '../harness/scene.ts';
import { configMap, define, pod, secret, widget } from './objects.ts';

const brief = (event: JsonRecord): unknown => [
  event.type,
  at(event, 'object', 'metadata', 'name') ?? event.object,
  at(event, 'object', 'metadata', 'resourceVersion'),
];

async function here(s: Scene, path: string): Promise<string> {
  const list = await s.prepare('GET', `${path}?limit=1`);
  return String(at(list, 'metadata', 'resourceVersion'));
}

export const watchCases = area('watch', (add) => {
  add('what happens to an object, from a revision on', async (s) => {
    const path = s.in('secrets');
    const watch = await s.watch(path, { query: { resourceVersion: await here(s, path) } });
    await s.prepare('POST', path, secret('a'));
    await s.prepare('PUT', `${path}/a`, secret('a', { stringData: { k: 'v' } }));
    await s.prepare('DELETE', `${path}/a`);
    await watch.expect(3);
  });
  add('a watch goes on where another ended', async (s) => {
    const path = s.in('secrets');
    const from = await here(s, path);
    for (const name of ['a', 'b', 'c']) await s.prepare('POST', path, secret(name));
    const first = await s.watch(path, { query: { resourceVersion: from } });
    const [, second] = await first.expect(2, { show: brief });
    const again = await s.watch(path, {
      query: { resourceVersion: String(at(second, 'object', 'metadata', 'resourceVersion')) },
    });
    await again.expect(1, { show: brief });
  });
  for (const resourceVersion of [undefined, '', '0']) {
    add(
      `resourceVersion ${resourceVersion === undefined ? 'left out' : `'${resourceVersion}'`} begins with what is there`,
      async (s) => {
        const path = s.in('secrets');
        await s.prepare('POST', path, secret('a'));
        // From its cache the real server may answer before the write has reached it: seen first, then asked.
        await s.settled(`${path}/a`, (found) => found !== undefined);
        const watch = await s.watch(path, {
          query: resourceVersion === undefined ? {} : { resourceVersion },
        });
        await watch.expect(1, { show: brief });
        await s.prepare('POST', path, secret('b'));
        await watch.expect(1, { show: brief });
      },
    );
  }
  add('a write without a change is no event', async (s) => {
    const path = s.in('secrets');
    await s.prepare('POST', path, secret('a', { stringData: { k: 'v' } }));
    const watch = await s.watch(path, { query: { resourceVersion: await here(s, path) } });
    await s.prepare('PUT', `${path}/a`, secret('a', { stringData: { k: 'v' } }));
    await s.prepare('POST', path, secret('b'));
    await watch.expect(1, { show: brief });
  });
  add('an object enters and leaves a label selection', async (s) => {
    const path = s.in('configmaps');
    const watch = await s.watch(path, {
      query: { resourceVersion: await here(s, path), labelSelector: 'color=red' },
    });
    await s.prepare('POST', path, configMap('a', {}, { labels: { color: 'blue' } }));
    await s.prepare('PUT', `${path}/a`, configMap('a', {}, { labels: { color: 'red' } }));
    await s.prepare('PUT', `${path}/a`, configMap('a', { k: '1' }, { labels: { color: 'red' } }));
    await s.prepare('PUT', `${path}/a`, configMap('a', { k: '2' }, { labels: { color: 'blue' } }));
    await s.prepare('PUT', `${path}/a`, configMap('a', { k: '3' }, { labels: { color: 'red' } }));
    await s.prepare('DELETE', `${path}/a`);
    await watch.expect(5);
  });
  add(
    'an object enters and leaves a field selection',
    async (s) => {
      const path = s.in('pods');
      await s.prepare('POST', path, pod('a'));
      const watch = await s.watch(path, {
        query: { resourceVersion: await here(s, path), fieldSelector: 'status.phase=Running' },
      });
      const merge = { 'content-type': 'application/merge-patch+json' };
      await s.prepare('PATCH', `${path}/a/status`, { status: { phase: 'Running' } }, merge);
      await s.prepare('PATCH', `${path}/a/status`, { status: { phase: 'Succeeded' } }, merge);
      await watch.expect(2, { show: brief });
    },
    { namespace: 'with-accounts' },
  );
  add('one object by its name', async (s) => {
    const path = s.in('secrets');
    const watch = await s.watch(path, {
      query: { resourceVersion: await here(s, path), fieldSelector: 'metadata.name=b' },
    });
    for (const name of ['a', 'b']) await s.prepare('POST', path, secret(name));
    await s.prepare('DELETE', `${path}/b`);
    await watch.expect(2, { show: brief });
  });
  add('the old way of watching one object and a collection', async (s) => {
    const from = await here(s, s.in('secrets'));
    await s.prepare('POST', s.in('secrets'), secret('a'));
    for (const end of ['secrets', 'secrets/a']) {
      const watch = await s.watch(`/api/v1/watch/namespaces/${s.namespace}/${end}`, {
        query: { resourceVersion: from },
      });
      await watch.expect(1, { show: brief });
    }
  });
  add('a path to one object is no collection to watch', async (s) => {
    const from = await here(s, s.in('secrets'));
    await s.prepare('POST', s.in('secrets'), secret('a'));
    await s.prepare('POST', s.in('secrets'), secret('b'));
    const watch = await s.watch(s.in('secrets', 'b'), { query: { resourceVersion: from } });
    await watch.expect(1, { show: brief });
  });
  for (const [word, isWatch] of [
    ['1', true],
    ['True', true],
    ['TRUE', true],
    ['t', true],
    ['yes', true],
    ['', true],
    ['false', false],
    ['0', false],
    ['False', false],
    ['FALSE', false],
    ['no', true],
  ] as const) {
    add(`watch=${word} is ${isWatch ? 'a watch' : 'a list'}`, async (s) => {
      const path = s.in('secrets');
      if (!isWatch) {
        await s.get(path, { query: { watch: word }, show: (body) => at(body, 'kind') });
        return;
      }
      const watch = await s.watch(path, {
        query: { watch: word, resourceVersion: await here(s, path), timeoutSeconds: '5' },
      });
      await s.prepare('POST', path, secret('a'));
      await watch.expect(1, { show: brief });
    });
  }
  add('a watch ends at its timeoutSeconds', async (s) => {
    const path = s.in('secrets');
    const watch = await s.watch(path, {
      query: { resourceVersion: await here(s, path), timeoutSeconds: '1' },
    });
    const began = performance.now();
    await watch.toEnd();
    const seconds = (performance.now() - began) / 1000;
    s.note('after about a second', seconds > 0.9 && seconds < 2.5);
  });
  for (const timeoutSeconds of ['nonsense', '1.5']) {
    add(`timeoutSeconds '${timeoutSeconds}'`, async (s) => {
      await (await s.watch(s.in('secrets'), { query: { timeoutSeconds } })).expect(0);
    });
  }
  for (const resourceVersion of ['nonsense', '-1']) {
    add(`a watch from '${resourceVersion}'`, async (s) => {
      const watch = await s.watch(s.in('secrets'), { query: { resourceVersion } });
      await watch.expect(1);
    });
  }
  add('a revision that is too old is told in the stream', async (s) => {
    // Before the kind was there: the real server remembers a kind's changes only from then on. Ours remembers for
    // all kinds together, so many, and the writes push what was before out of its memory.
    const before = await here(s, s.in('configmaps'));
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a'));
    const merge = { 'content-type': 'application/merge-patch+json' };
    for (let count = 0; count < 600; count++)
      await s.prepare('PATCH', `${path}/a`, { spec: { count } }, merge);
    const watch = await s.watch(path, { query: { resourceVersion: before } });
    await watch.expect(1);
    await watch.toEnd();
  });
  add('a watch from a revision still to come waits for it', async (s) => {
    const path = s.in('secrets');
    const watch = await s.watch(path, { query: { resourceVersion: '99999999', timeoutSeconds: '1' } });
    await s.prepare('POST', path, secret('a'));
    await watch.toEnd();
  });

  const initial = {
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
  };
  add('initial events end with a bookmark', async (s) => {
    const path = s.in('secrets');
    for (const name of ['a', 'b']) await s.prepare('POST', path, secret(name));
    const watch = await s.watch(path, { query: initial });
    await watch.expect(3);
    await s.prepare('DELETE', `${path}/a`);
    await watch.expect(1, { show: brief });
  });
  add('initial events of an empty collection', async (s) => {
    const watch = await s.watch(s.in('secrets'), { query: initial });
    await watch.expect(1);
  });
  add('initial events with a selector', async (s) => {
    for (const color of ['red', 'blue'])
      await s.prepare('POST', s.in('configmaps'), configMap(color, {}, { labels: { color } }));
    const watch = await s.watch(s.in('configmaps'), { query: { ...initial, labelSelector: 'color=red' } });
    await watch.expect(2, { show: brief });
  });
  add('initial events not older than a revision', async (s) => {
    const created = await s.prepare('POST', s.in('secrets'), secret('a'));
    const resourceVersion = String(at(created, 'metadata', 'resourceVersion'));
    const watch = await s.watch(s.in('secrets'), { query: { ...initial, resourceVersion } });
    await watch.expect(2, { show: (event) => event.type });
    const zero = await s.watch(s.in('secrets'), { query: { ...initial, resourceVersion: '0' } });
    await zero.expect(2, { show: (event) => event.type });
  });
  add('no initial events when they are not wanted', async (s) => {
    const path = s.in('secrets');
    await s.prepare('POST', path, secret('a'));
    const watch = await s.watch(path, { query: { ...initial, sendInitialEvents: 'false' } });
    await s.prepare('POST', path, secret('b'));
    await watch.expect(1, { show: brief });
  });
  const refused: Readonly<Record<string, Record<string, string>>> = {
    'sendInitialEvents without resourceVersionMatch': {
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
    },
    'sendInitialEvents without bookmarks': {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      resourceVersion: '0',
      timeoutSeconds: '1',
    },
    'sendInitialEvents with an exact match': { ...initial, resourceVersionMatch: 'Exact' },
    'resourceVersionMatch without sendInitialEvents': {
      resourceVersionMatch: 'NotOlderThan',
      resourceVersion: '1',
    },
    'a page token': { continue: 'abc' },
    'sendInitialEvents=nonsense': {
      sendInitialEvents: 'nonsense',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '1',
    },
  };
  for (const [what, query] of Object.entries(refused)) {
    add(`a watch with ${what}`, async (s) => {
      const watch = await s.watch(s.in('secrets'), { query });
      await watch.expect(1, { show: (event) => event.type });
    });
  }
  add('a watch of a page size ignores it', async (s) => {
    const path = s.in('secrets');
    const watch = await s.watch(path, { query: { limit: '1', resourceVersion: await here(s, path) } });
    for (const name of ['a', 'b']) await s.prepare('POST', path, secret(name));
    await watch.expect(2, { show: brief });
  });
  add('a bad selector refuses a watch', async (s) => {
    await (await s.watch(s.in('secrets'), { query: { labelSelector: 'a b' } })).expect(0);
    await (await s.watch(s.in('secrets'), { query: { fieldSelector: 'spec.x=1' } })).expect(0);
  });
  add('custom objects', async (s) => {
    const path = await define(s);
    const watch = await s.watch(path, { query: { resourceVersion: await here(s, path) } });
    await s.prepare('POST', path, widget(s, 'a', { spec: { n: 1 } }));
    await s.prepare(
      'PATCH',
      `${path}/a`,
      { spec: { n: 2 } },
      { 'content-type': 'application/merge-patch+json' },
    );
    await s.prepare('DELETE', `${path}/a`);
    await watch.expect(3);
  });
  add('all namespaces', async (s) => {
    const labelSelector = `case=${s.id}`;
    const watch = await s.watch('/api/v1/configmaps', {
      query: { labelSelector, resourceVersion: await here(s, s.in('configmaps')) },
    });
    await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { labels: { case: s.id } }));
    await watch.expect(1, { show: brief });
  });
  add('a collection that is not served', async (s) => {
    await (await s.watch(s.in('nonsenses'))).expect(0);
  });
  add('deletion with a finalizer is a change, then the end', async (s) => {
    const path = s.in('configmaps');
    await s.prepare('POST', path, configMap('a', {}, { finalizers: ['example.com/wait'] }));
    const watch = await s.watch(path, {
      query: { resourceVersion: await here(s, path), fieldSelector: 'metadata.name=a' },
    });
    await s.prepare('DELETE', `${path}/a`);
    await s.prepare(
      'PATCH',
      `${path}/a`,
      { metadata: { finalizers: null } },
      { 'content-type': 'application/merge-patch+json' },
    );
    await watch.expect(2);
  });
});
