import { area } from '../harness/case.ts';
import { at } from '../harness/json.ts';
import { configMap, define, verdict, widget } from './objects.ts';

export const limitCases = area('limits', (add) => {
  add(
    'a body above three megabytes',
    async (s) => {
      await s.post(s.in('configmaps'), configMap('a', { k: 'x'.repeat(3 * 1024 * 1024 + 100) }));
    },
    { needs: 'bytes' },
  );
  add('an object the store cannot take', async (s) => {
    const path = await define(s);
    await s.post(path, widget(s, 'a', { spec: { k: 'x'.repeat(1_800_000) } }), { show: verdict });
    await s.post(path, widget(s, 'b', { spec: { k: 'x'.repeat(1_200_000) } }), { show: verdict });
  });
  add('a patch that makes an object too large', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a', { spec: { k: 'x'.repeat(1_000_000) } }));
    await s.patch('merge', `${path}/a`, { spec: { l: 'x'.repeat(1_000_000) } }, { show: verdict });
  });
  add('deep nesting', async (s) => {
    const path = await define(s);
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    for (const [name, depth] of [
      ['a', 100],
      ['b', 11_000],
    ] as const) {
      const body = JSON.stringify(widget(s, name, { spec: 1 })).replace(
        '"spec":1',
        `"spec":${nested(depth)}`,
      );
      await s.send(
        { method: 'POST', path, headers: { 'content-type': 'application/json' }, body },
        { show: (found) => at(found, 'code') ?? at(found, 'kind') },
      );
    }
  });
  add('many keys', async (s) => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 'v']));
    await s.post(s.in('configmaps'), configMap('a', data), { show: verdict });
  });
  add('many labels', async (s) => {
    const labels = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 'v']));
    await s.post(s.in('configmaps'), configMap('a', {}, { labels }), { show: verdict });
  });
  add('a very long selector', async (s) => {
    const labelSelector = `app in (${Array.from({ length: 2000 }, (_, index) => `v${index}`).join(',')})`;
    await s.get(s.in('secrets'), { query: { labelSelector }, show: (body) => at(body, 'kind') });
  });
});
