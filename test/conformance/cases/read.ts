import { pause } from '@hutch/base';
import { area } from '../harness/case.ts';
import { at } from '../harness/json.ts';
import type { Scene } from '../harness/scene.ts';
import { configMap, define, names, pod, secret, verdict, widget } from './objects.ts';

export const getCases = area('get', (add) => {
  add('an object and one that is not there', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.get(s.in('configmaps', 'a'));
    await s.get(s.in('configmaps', 'b'));
    await s.get('/api/v1/namespaces/nowhere-at-all/configmaps/a');
  });
  add('a resource, a version and a group that are not served', async (s) => {
    await s.get(s.in('nonsenses', 'a'));
    await s.get(`/api/v2/namespaces/${s.namespace}/configmaps/a`);
    await s.get(`/apis/nonsense.example.com/v1/namespaces/${s.namespace}/things/a`);
    await s.get(`/apis/nonsense.example.com/v1`);
  });
  add('a subresource that is not there', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.get(s.in('configmaps', 'a', 'status'));
    await s.get(s.in('configmaps', 'a', 'nonsense'));
    await s.get(s.in('configmaps', 'a', 'status', 'more'));
  });
  add('a cluster-scoped kind inside a namespace', async (s) => {
    await s.get(`/api/v1/namespaces/${s.namespace}/nodes`);
    await s.get(`/api/v1/namespaces/${s.namespace}/nodes/x`);
  });
  add('a namespaced object without its namespace', async (s) => void (await s.get('/api/v1/configmaps/a')));
  add('a namespaced kind, one segment too many', async (s) => {
    await s.get(`/api/v1/namespaces/${s.namespace}`, { show: verdict });
    await s.get(`/api/v1/namespaces/${s.namespace}/`, { show: verdict });
    await s.get(`${s.in('secrets')}/`, { show: names });
  });
  add('a path with an empty segment', async (s) => void (await s.get(`/api/v1//namespaces/${s.namespace}`)), {
    needs: 'bytes',
  });
  add('resourceVersion of a get', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    // Revision 0 may be answered from a cache that does not know yet: a watch that has seen it comes after the cache.
    await s.settled(s.in('configmaps', 'a'), (found) => found !== undefined);
    await (
      await s.watch(s.in('configmaps'), { query: { resourceVersion: '0', fieldSelector: 'metadata.name=a' } })
    ).expect(1, { show: (event) => event.type });
    for (const resourceVersion of ['0', '1', '', 'nonsense', '-1']) {
      await s.get(s.in('configmaps', 'a'), { query: { resourceVersion }, show: verdict });
    }
  });
  add('an encoded path', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a.b'));
    await s.get(s.in('configmaps', 'a%2Eb'), { show: verdict });
    await s.get(s.in('configmaps', 'a%2Fb'));
  });
  add('a query nobody knows is ignored', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.get(s.in('configmaps', 'a'), { query: { nonsense: 'x', pretty: 'true' }, show: verdict });
  });
});

/**
 * Waits until a request of the past is refused. The real server forgets by the clock, ours by the number of changes.
 */
async function outlive(s: Scene, path: string): Promise<void> {
  await s.prepare('POST', s.in('configmaps'), configMap('busy'));
  for (let count = 0; count < 600; count++) {
    await s.prepare('PUT', s.in('configmaps', 'busy'), configMap('busy', { count: String(count) }));
  }
  while (await s.peek(path)) await pause(500, s.signal);
}

async function furnish(s: Scene): Promise<void> {
  const labels = { a: { app: 'x', tier: 'front' }, b: { app: 'x' }, c: { app: 'y', tier: 'back' }, d: {} };
  for (const [name, own] of Object.entries(labels)) {
    await s.prepare('POST', s.in('configmaps'), configMap(name, { k: name }, { labels: own }));
  }
}

const mine = { fieldSelector: 'metadata.name!=kube-root-ca.crt' };

export const listCases = area('list', (add) => {
  add('an empty list', async (s) => void (await s.get(s.in('secrets'))));
  add('items come in the order of their names, without kind and apiVersion', async (s) => {
    for (const name of ['c', 'a', 'b']) await s.prepare('POST', s.in('configmaps'), configMap(name));
    await s.get(s.in('configmaps'), { query: mine });
  });
  add('a namespace that is not there has an empty list', async (s) => {
    await s.get('/api/v1/namespaces/nowhere-at-all/configmaps');
  });
  add('all namespaces together', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap(`only-${s.id}`));
    await s.get('/api/v1/configmaps', { query: { fieldSelector: `metadata.name=only-${s.id}` } });
    await s.get('/api/v1/configmaps', {
      query: { fieldSelector: `metadata.namespace=${s.namespace},metadata.name!=kube-root-ca.crt` },
      show: names,
    });
  });
  add('custom objects carry kind and apiVersion in a list', async (s) => {
    const path = await define(s);
    await s.get(path);
    await s.prepare('POST', path, widget(s, 'a'));
    await s.get(path);
  });

  const labelSelectors = [
    'app=x',
    'app==x',
    'app!=x',
    'app in (x)',
    'app in (x,y)',
    'app notin (x)',
    'app notin (x, y)',
    'app',
    '!app',
    'tier,app=x',
    '!tier,app=x',
    'app=',
    'app in ()',
    'app in (,x)',
    '',
    ' app = x ',
    'app>1',
    'nosuch',
    'app=x,app=y',
    // refused
    'app=x y',
    '=x',
    'app in x',
    'app in (x',
    '!app=x',
    'Bad_/x=y',
    'app=x,',
    ',app',
    'app=v!',
    'app in (bad value)',
    'a/b/c=x',
    'app>x',
    `app=${'v'.repeat(64)}`,
  ];
  for (const labelSelector of labelSelectors) {
    const shown = labelSelector.length > 30 ? 'with a long value' : `'${labelSelector}'`;
    add(`label selector ${shown}`, async (s) => {
      await furnish(s);
      await s.get(s.in('configmaps'), { query: { labelSelector, ...mine }, show: names });
    });
  }
  const fieldSelectors = [
    'metadata.name=a',
    'metadata.name==a',
    'metadata.name!=a',
    'metadata.name=a,metadata.name=b',
    'metadata.name=',
    '',
    'metadata.name=nosuch',
    'metadata.labels.app=x',
    'data.k=a',
    'spec.x=1',
    'nonsense',
    'metadata.name',
    'metadata.name=a\\,b',
    'metadata.name in (a)',
    'metadata.uid=x',
  ];
  for (const fieldSelector of fieldSelectors) {
    add(`field selector '${fieldSelector}'`, async (s) => {
      await furnish(s);
      await s.get(s.in('configmaps'), { query: { fieldSelector, labelSelector: 'app' }, show: names });
    });
  }
  add(
    'field selectors of pods',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1', restartPolicy: 'Never' }));
      await s.prepare('POST', s.in('pods'), pod('b'));
      for (const fieldSelector of [
        'spec.nodeName=n1',
        'spec.nodeName=',
        'status.phase=Pending',
        'status.phase!=Pending',
        'spec.restartPolicy=Never',
        'spec.schedulerName=nobody',
        'spec.serviceAccountName=default',
        'status.podIP=',
        'spec.hostNetwork=true',
        'spec.nonsense=x',
      ]) {
        await s.get(s.in('pods'), { query: { fieldSelector }, show: names });
      }
    },
    { namespace: 'with-accounts' },
  );
  add('field selectors of secrets and namespaces', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a', { type: 'example.com/x' }));
    await s.get(s.in('secrets'), { query: { fieldSelector: 'type=example.com/x' }, show: names });
    await s.get(s.in('secrets'), { query: { fieldSelector: 'type=Opaque' }, show: names });
    await s.get('/api/v1/namespaces', {
      query: { fieldSelector: `status.phase=Active,metadata.name=${s.namespace}` },
      show: names,
    });
  });

  add('pages of two', async (s) => {
    await furnish(s);
    const query = { labelSelector: 'app', limit: '2' };
    const first = await s.get(s.in('configmaps'), { query });
    const token = String(at(first.body, 'metadata', 'continue'));
    await s.get(s.in('configmaps'), { query: { ...query, continue: token } });
  });
  add('remainingItemCount is told only without selectors', async (s) => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await s.prepare('POST', s.in('secrets'), secret(name));
    const first = await s.get(s.in('secrets'), { query: { limit: '2' } });
    const second = await s.get(s.in('secrets'), {
      query: { limit: '2', continue: String(at(first.body, 'metadata', 'continue')) },
    });
    await s.get(s.in('secrets'), {
      query: { limit: '2', continue: String(at(second.body, 'metadata', 'continue')) },
    });
    await s.get(s.in('secrets'), {
      query: { limit: '2', labelSelector: '!x' },
      show: (body) => at(body, 'metadata'),
    });
    await s.get(s.in('secrets'), { query: { limit: '5' }, show: (body) => at(body, 'metadata') });
    await s.get(s.in('secrets'), { query: { limit: '6' }, show: (body) => at(body, 'metadata') });
  });
  add('pages are one snapshot although writes go on', async (s) => {
    for (const name of ['a', 'b', 'c', 'd'])
      await s.prepare('POST', s.in('secrets'), secret(name, { stringData: { k: 'old' } }));
    const first = await s.get(s.in('secrets'), { query: { limit: '2' }, show: names });
    await s.prepare('DELETE', s.in('secrets', 'd'));
    await s.prepare('POST', s.in('secrets'), secret('bb'));
    await s.prepare('PUT', s.in('secrets', 'c'), secret('c', { stringData: { k: 'new' } }));
    const rest = await s.get(s.in('secrets'), {
      query: { limit: '5', continue: String(at(first.body, 'metadata', 'continue')) },
    });
    s.note(
      'same revision',
      at(first.body, 'metadata', 'resourceVersion') === at(rest.body, 'metadata', 'resourceVersion'),
    );
    await s.get(s.in('secrets'), { show: names });
  });
  add('a page token goes on without its limit', async (s) => {
    for (const name of ['a', 'b', 'c', 'd']) await s.prepare('POST', s.in('secrets'), secret(name));
    const first = await s.get(s.in('secrets'), { query: { limit: '1' }, show: names });
    await s.get(s.in('secrets'), {
      query: { continue: String(at(first.body, 'metadata', 'continue')) },
      show: names,
    });
  });
  add('a page token that has expired offers to go on with what is there now', async (s) => {
    for (const name of ['a', 'b', 'c', 'd']) await s.prepare('POST', s.in('secrets'), secret(name));
    const first = await s.get(s.in('secrets'), { query: { limit: '2' }, show: names });
    const token = String(at(first.body, 'metadata', 'continue'));
    const then = String(at(first.body, 'metadata', 'resourceVersion'));
    await s.prepare('DELETE', s.in('secrets', 'c'));
    await s.prepare('POST', s.in('secrets'), secret('e'));
    await outlive(s, `${s.in('secrets')}?limit=2&continue=${encodeURIComponent(token)}`);
    const expired = await s.get(s.in('secrets'), { query: { limit: '2', continue: token } });
    const onward = String(at(expired.body, 'metadata', 'continue'));
    await s.get(s.in('secrets'), { query: { limit: '1', continue: onward } });
    await s.get(s.in('secrets'), { query: { resourceVersion: then, resourceVersionMatch: 'Exact' } });
  });
  add('a page token that is none', async (s) => {
    for (const token of [
      'nonsense',
      '!!',
      Buffer.from('{}').toString('base64url'),
      Buffer.from('{"v":"meta.k8s.io/v1","rv":-1,"start":"a"}').toString('base64url'),
    ]) {
      await s.get(s.in('secrets'), {
        query: { limit: '1', continue: token },
        show: (body) => ({ ...(body as object), details: undefined }),
      });
    }
  });
  add('a page token beside a resourceVersion', async (s) => {
    for (const name of ['a', 'b']) await s.prepare('POST', s.in('secrets'), secret(name));
    const first = await s.get(s.in('secrets'), { query: { limit: '1' }, show: names });
    const token = String(at(first.body, 'metadata', 'continue'));
    await s.get(s.in('secrets'), { query: { continue: token, resourceVersion: '1' } });
    await s.get(s.in('secrets'), { query: { continue: token, resourceVersion: '0' }, show: names });
    await s.get(s.in('secrets'), {
      query: { continue: token, resourceVersion: '1', resourceVersionMatch: 'Exact' },
    });
  });
  for (const limit of ['0', '-1', 'nonsense', '99999999999999999999', '1.5', '']) {
    add(`limit '${limit}'`, async (s) => {
      await s.prepare('POST', s.in('secrets'), secret('a'));
      await s.get(s.in('secrets'), { query: { limit }, show: names });
    });
  }
  add('resourceVersionMatch, all its forms', async (s) => {
    const created = await s.prepare('POST', s.in('secrets'), secret('a'));
    const now = String(at(created, 'metadata', 'resourceVersion'));
    await s.prepare('POST', s.in('secrets'), secret('b'));
    const ask = (query: Record<string, string>) => s.get(s.in('secrets'), { query, show: names });
    await ask({ resourceVersion: now, resourceVersionMatch: 'NotOlderThan' });
    await ask({ resourceVersion: now, resourceVersionMatch: 'Exact' });
    await ask({ resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' });
    await ask({ resourceVersion: '0', resourceVersionMatch: 'Exact' });
    await ask({ resourceVersionMatch: 'NotOlderThan' });
    await ask({ resourceVersionMatch: 'Exact' });
    await ask({ resourceVersion: now, resourceVersionMatch: 'Nonsense' });
    await ask({ resourceVersionMatch: 'Nonsense' });
    await ask({ resourceVersion: now, resourceVersionMatch: 'Exact', limit: '1' });
  });
  add('an exact revision shows what was', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a'));
    const then = await s.prepare('POST', s.in('secrets'), secret('b'));
    await s.prepare('DELETE', s.in('secrets', 'a'));
    const resourceVersion = String(at(then, 'metadata', 'resourceVersion'));
    const exact = await s.get(s.in('secrets'), {
      query: { resourceVersion, resourceVersionMatch: 'Exact' },
      show: names,
    });
    s.note(
      'its revision is the one asked for',
      at(exact.body, 'metadata', 'resourceVersion') === resourceVersion,
    );
  });
  for (const resourceVersion of ['nonsense', '-1', '1.5', '0x1', ' 1']) {
    add(`resourceVersion '${resourceVersion}'`, async (s) => {
      await s.get(s.in('secrets'), { query: { resourceVersion }, show: names });
    });
  }
  add('a resourceVersion still to come', async (s) => {
    await s.get(s.in('secrets'), { query: { resourceVersion: '999999999' } });
  });
  add('sendInitialEvents is for watches', async (s) => {
    await s.get(s.in('secrets'), { query: { sendInitialEvents: 'true' } });
  });
  add('timeoutSeconds of a list', async (s) => {
    await s.get(s.in('secrets'), { query: { timeoutSeconds: '10' }, show: names });
    await s.get(s.in('secrets'), { query: { timeoutSeconds: 'x' } });
  });
});
