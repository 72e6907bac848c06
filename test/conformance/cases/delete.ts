import { area } from '../harness/case.ts';
import { at } from '../harness/json.ts';
import { configMap, define, names, pod, secret, verdict, widget } from './objects.ts';

const options = (fields: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...fields });
const merge = { 'content-type': 'application/merge-patch+json' };

export const deleteCases = area('delete', (add) => {
  add('an object, and again', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.delete(s.in('configmaps', 'a'));
    await s.delete(s.in('configmaps', 'a'));
    await s.get(s.in('configmaps', 'a'));
  });
  add('a custom object', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a'));
    await s.delete(`${path}/a`);
    await s.delete(`${path}/a`);
  });
  add('options in the body', async (s) => {
    for (const [name, fields] of Object.entries({
      a: {},
      b: { propagationPolicy: 'Background' },
      c: { gracePeriodSeconds: 5 },
      d: { propagationPolicy: null },
    })) {
      await s.prepare('POST', s.in('configmaps'), configMap(name));
      await s.delete(s.in('configmaps', name), options(fields));
    }
    await s.prepare('POST', s.in('configmaps'), configMap('e'));
    await s.delete(s.in('configmaps', 'e'), {});
  });
  add('options of another kind', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.delete(s.in('configmaps', 'a'), { kind: 'Nonsense', apiVersion: 'v1' });
    await s.delete(s.in('configmaps', 'a'), options({ nonsense: 1 }), { show: verdict });
  });
  add('options with wrong types', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.delete(s.in('configmaps', 'a'), options({ gracePeriodSeconds: 'x' }));
    await s.delete(s.in('configmaps', 'a'), options({ preconditions: 'x' }));
  });
  add('a uid that is another', async (s) => {
    const made = await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.delete(
      s.in('configmaps', 'a'),
      options({ preconditions: { uid: 'e0d5b1d2-0000-4000-8000-000000000000' } }),
    );
    await s.delete(s.in('configmaps', 'a'), options({ preconditions: { uid: at(made, 'metadata', 'uid') } }));
  });
  add('a revision that is another', async (s) => {
    const made = await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.prepare('PUT', s.in('configmaps', 'a'), configMap('a', { k: 'v' }));
    await s.delete(
      s.in('configmaps', 'a'),
      options({ preconditions: { resourceVersion: at(made, 'metadata', 'resourceVersion') } }),
    );
    const now = await s.peek(s.in('configmaps', 'a'));
    await s.delete(
      s.in('configmaps', 'a'),
      options({ preconditions: { resourceVersion: at(now, 'metadata', 'resourceVersion') } }),
    );
  });
  add('a finalizer holds an object back', async (s) => {
    await s.prepare(
      'POST',
      s.in('configmaps'),
      configMap('a', { k: 'v' }, { finalizers: ['example.com/wait'] }),
    );
    await s.delete(s.in('configmaps', 'a'));
    await s.get(s.in('configmaps', 'a'));
    await s.delete(s.in('configmaps', 'a'));
    await s.patch('merge', s.in('configmaps', 'a'), { data: { k: 'w' } });
    await s.patch('merge', s.in('configmaps', 'a'), {
      metadata: { finalizers: ['example.com/wait', 'example.com/more'] },
    });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { finalizers: null } });
    await s.get(s.in('configmaps', 'a'));
  });
  add('a custom object with a finalizer', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a', { spec: { n: 1 } }, { finalizers: ['example.com/wait'] }));
    await s.delete(`${path}/a`);
    await s.patch('merge', `${path}/a`, { spec: { n: 2 } });
    await s.patch('merge', `${path}/a`, { metadata: { finalizers: [] } });
    await s.get(`${path}/a`);
  });
  add('an update that takes the last finalizer away ends the object', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
    await s.prepare('DELETE', s.in('configmaps', 'a'));
    await s.put(s.in('configmaps', 'a'), configMap('a'));
    await s.get(s.in('configmaps', 'a'));
  });
  add('a finalizer can be taken away before', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { finalizers: [] } });
    await s.delete(s.in('configmaps', 'a'));
  });
  for (const propagationPolicy of ['Foreground', 'Orphan', 'Background']) {
    add(`propagation ${propagationPolicy} leaves its mark on an object that is held back`, async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
      await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy }));
    });
    add(`propagation ${propagationPolicy} in the query`, async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
      await s.delete(s.in('configmaps', 'a'), undefined, { query: { propagationPolicy } });
    });
  }
  add('propagation of an unknown word', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy: 'Nonsense' }));
    await s.delete(s.in('configmaps', 'a'), undefined, { query: { propagationPolicy: 'Nonsense' } });
  });
  add('orphanDependents, the old way', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
    await s.delete(s.in('configmaps', 'a'), options({ orphanDependents: true, propagationPolicy: 'Orphan' }));
    await s.delete(s.in('configmaps', 'a'), options({ orphanDependents: true }));
  });
  add('a grace period below zero', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
    await s.delete(s.in('configmaps', 'a'), options({ gracePeriodSeconds: -1 }), { show: verdict });
    await s.delete(s.in('configmaps', 'a'), undefined, { query: { gracePeriodSeconds: 'x' } });
  });

  const accounts = { namespace: 'with-accounts' } as const;
  add(
    'a pod on no node goes at once',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a'));
      await s.delete(s.in('pods', 'a'), undefined, { show: (body) => at(body, 'metadata') });
      await s.get(s.in('pods', 'a'));
    },
    accounts,
  );
  add(
    'a pod on a node has its grace',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1' }));
      const show = (body: unknown) => at(body, 'metadata') ?? body;
      await s.delete(s.in('pods', 'a'), undefined, { show });
      await s.delete(s.in('pods', 'a'), undefined, { show });
      await s.delete(s.in('pods', 'a'), options({ gracePeriodSeconds: 60 }), { show });
      await s.delete(s.in('pods', 'a'), options({ gracePeriodSeconds: 10 }), { show });
      await s.delete(s.in('pods', 'a'), options({ gracePeriodSeconds: 0 }), { show });
      await s.get(s.in('pods', 'a'));
    },
    accounts,
  );
  add(
    'a pod with a grace of its own, and one that is over',
    async (s) => {
      const show = (body: unknown) => at(body, 'metadata') ?? body;
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1', terminationGracePeriodSeconds: 5 }));
      await s.delete(s.in('pods', 'a'), undefined, { show });
      await s.prepare('POST', s.in('pods'), pod('b', { nodeName: 'n1' }));
      await s.prepare('PATCH', s.in('pods', 'b', 'status'), { status: { phase: 'Succeeded' } }, merge);
      await s.delete(s.in('pods', 'b'), undefined, { show });
      await s.get(s.in('pods', 'b'), { show });
      await s.prepare('POST', s.in('pods'), pod('c', { nodeName: 'n1' }));
      await s.delete(s.in('pods', 'c'), options({ gracePeriodSeconds: -5 }), { show });
    },
    accounts,
  );
  add(
    'a pod on a node with a finalizer, without grace',
    async (s) => {
      await s.prepare(
        'POST',
        s.in('pods'),
        pod('a', { nodeName: 'n1' }, { finalizers: ['example.com/wait'] }),
      );
      const show = (body: unknown) => at(body, 'metadata') ?? body;
      await s.delete(s.in('pods', 'a'), options({ gracePeriodSeconds: 0 }), { show });
      await s.patch('merge', s.in('pods', 'a'), { metadata: { finalizers: null } }, { show });
      await s.get(s.in('pods', 'a'), { show });
    },
    accounts,
  );
});

export const deleteCollectionCases = area('delete-collection', (add) => {
  add('all of it', async (s) => {
    for (const name of ['a', 'b']) await s.prepare('POST', s.in('secrets'), secret(name));
    await s.delete(s.in('secrets'));
    await s.get(s.in('secrets'), { show: names });
  });
  add('an empty one', async (s) => void (await s.delete(s.in('secrets'))));
  add('those a selector chooses', async (s) => {
    for (const name of ['a', 'b', 'c'])
      await s.prepare('POST', s.in('configmaps'), configMap(name, {}, { labels: { n: name } }));
    await s.delete(s.in('configmaps'), undefined, { query: { labelSelector: 'n in (a,c)' }, show: names });
    await s.delete(s.in('configmaps'), undefined, {
      query: { fieldSelector: 'metadata.name=b' },
      show: names,
    });
    await s.get(s.in('configmaps'), { query: { labelSelector: 'n' }, show: names });
  });
  add('a bad selector deletes nothing', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { labels: { n: 'a' } }));
    await s.delete(s.in('configmaps'), undefined, { query: { labelSelector: 'a b' } });
    await s.delete(s.in('configmaps'), undefined, { query: { fieldSelector: 'spec.x=1' } });
    await s.get(s.in('configmaps', 'a'), { show: verdict });
  });
  add('what a finalizer holds back is shown', async (s) => {
    await s.prepare(
      'POST',
      s.in('configmaps'),
      configMap('a', {}, { finalizers: ['example.com/wait'], labels: { n: 'a' } }),
    );
    await s.delete(s.in('configmaps'), undefined, { query: { labelSelector: 'n' } });
    await s.get(s.in('configmaps', 'a'));
  });
  add('with a policy', async (s) => {
    await s.prepare(
      'POST',
      s.in('configmaps'),
      configMap('a', {}, { finalizers: ['example.com/wait'], labels: { n: 'a' } }),
    );
    await s.delete(s.in('configmaps'), options({ propagationPolicy: 'Foreground' }), {
      query: { labelSelector: 'n' },
    });
  });
  add('a precondition of one object', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a'));
    await s.delete(
      s.in('secrets'),
      options({ preconditions: { uid: 'e0d5b1d2-0000-4000-8000-000000000000' } }),
      { show: verdict },
    );
    await s.get(s.in('secrets', 'a'), { show: verdict });
  });
  add('a limit and a page token', async (s) => {
    for (const name of ['a', 'b', 'c']) await s.prepare('POST', s.in('secrets'), secret(name));
    await s.delete(s.in('secrets'), undefined, { query: { limit: '2' }, show: names });
    await s.get(s.in('secrets'), { show: names });
  });
  add('custom objects', async (s) => {
    const path = await define(s);
    for (const name of ['a', 'b']) await s.prepare('POST', path, widget(s, name));
    await s.delete(path);
    await s.get(path, { show: names });
  });
  add(
    'pods keep their grace',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1' }));
      await s.prepare('POST', s.in('pods'), pod('b'));
      await s.delete(s.in('pods'), undefined, { show: names });
      await s.get(s.in('pods'), { show: names });
    },
    { namespace: 'with-accounts' },
  );
  add('kinds and places without it', async (s) => {
    await s.delete('/api/v1/namespaces');
    await s.delete(`/api/v1/secrets`, undefined, { query: { labelSelector: 'nobody=has-this' } });
    await s.delete(s.in('services'), undefined, { show: verdict });
  });
});

const owner = (body: unknown, more: object = {}) => ({
  apiVersion: at(body, 'apiVersion'),
  kind: at(body, 'kind'),
  name: at(body, 'metadata', 'name'),
  uid: at(body, 'metadata', 'uid'),
  ...more,
});

export const garbageCases = area(
  'garbage-collection',
  (add) => {
    add('background: dependants go after their owner', async (s) => {
      const a = await s.prepare('POST', s.in('configmaps'), configMap('a'));
      const b = await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap('b', {}, { ownerReferences: [owner(a)] }),
      );
      await s.prepare('POST', s.in('secrets'), {
        ...secret('c'),
        metadata: { name: 'c', ownerReferences: [owner(b)] },
      });
      await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy: 'Background' }));
      await s.gone(s.in('configmaps', 'b'));
      await s.gone(s.in('secrets', 'c'));
    });
    add('foreground: the owner waits for those that block it', async (s) => {
      const a = await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap(
          'b',
          {},
          { ownerReferences: [owner(a, { blockOwnerDeletion: true })], finalizers: ['example.com/wait'] },
        ),
      );
      await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy: 'Foreground' }));
      await s.settled(
        s.in('configmaps', 'b'),
        (found) => at(found, 'metadata', 'deletionTimestamp') !== undefined,
      );
      await s.get(s.in('configmaps', 'a'), { show: (body) => at(body, 'metadata', 'finalizers') });
      await s.get(s.in('configmaps', 'b'), { show: (body) => at(body, 'metadata', 'finalizers') });
      await s.prepare('PATCH', s.in('configmaps', 'b'), { metadata: { finalizers: null } }, merge);
      await s.gone(s.in('configmaps', 'a'));
      await s.gone(s.in('configmaps', 'b'));
    });
    add('foreground: one that does not block is deleted, and not waited for', async (s) => {
      const a = await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap('b', {}, { ownerReferences: [owner(a)], finalizers: ['example.com/wait'] }),
      );
      await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy: 'Foreground' }), {
        show: verdict,
      });
      await s.gone(s.in('configmaps', 'a'));
      await s.settled(
        s.in('configmaps', 'b'),
        (found) => at(found, 'metadata', 'deletionTimestamp') !== undefined,
      );
      await s.get(s.in('configmaps', 'b'), { show: (body) => at(body, 'metadata', 'finalizers') });
    });
    add('foreground without dependants', async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy: 'Foreground' }));
      await s.gone(s.in('configmaps', 'a'));
    });
    add('orphan: dependants stay and forget their owner', async (s) => {
      const a = await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.prepare('POST', s.in('configmaps'), configMap('b', {}, { ownerReferences: [owner(a)] }));
      await s.delete(s.in('configmaps', 'a'), options({ propagationPolicy: 'Orphan' }));
      await s.gone(s.in('configmaps', 'a'));
      await s.get(s.in('configmaps', 'b'));
    });
    add('an owner that never was', async (s) => {
      await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap(
          'b',
          {},
          {
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'ConfigMap',
                name: 'nosuch',
                uid: 'e0d5b1d2-0000-4000-8000-000000000001',
              },
            ],
          },
        ),
      );
      await s.gone(s.in('configmaps', 'b'));
    });
    add('a namesake of the owner is not the owner', async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap(
          'b',
          {},
          {
            ownerReferences: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'e0d5b1d2-0000-4000-8000-000000000002' },
            ],
          },
        ),
      );
      await s.gone(s.in('configmaps', 'b'));
    });
    add('of two owners one goes', async (s) => {
      const a = await s.prepare('POST', s.in('configmaps'), configMap('a'));
      const b = await s.prepare('POST', s.in('configmaps'), configMap('b'));
      await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap('c', {}, { ownerReferences: [owner(a), owner(b)] }),
      );
      await s.delete(s.in('configmaps', 'a'));
      await s.settled(
        s.in('configmaps', 'c'),
        (found) => (at(found, 'metadata', 'ownerReferences') as unknown[]).length === 1,
      );
      await s.get(s.in('configmaps', 'c'), { show: (body) => at(body, 'metadata', 'ownerReferences') });
      await s.delete(s.in('configmaps', 'b'));
      await s.gone(s.in('configmaps', 'c'));
    });
    add('a custom object owns and is owned', async (s) => {
      const path = await define(s);
      const a = await s.prepare('POST', path, widget(s, 'a'));
      await s.prepare('POST', s.in('configmaps'), configMap('b', {}, { ownerReferences: [owner(a)] }));
      const c = await s.prepare('POST', path, widget(s, 'c', {}, { ownerReferences: [owner(a)] }));
      s.note('owned', at(c, 'metadata', 'ownerReferences'));
      await s.delete(`${path}/a`);
      await s.gone(s.in('configmaps', 'b'));
      await s.gone(`${path}/c`);
    });
    add(
      'a pod is collected with its grace',
      async (s) => {
        const a = await s.prepare('POST', s.in('configmaps'), configMap('a'));
        await s.prepare('POST', s.in('pods'), pod('b', { nodeName: 'n1' }, { ownerReferences: [owner(a)] }));
        await s.delete(s.in('configmaps', 'a'));
        await s.settled(
          s.in('pods', 'b'),
          (found) => at(found, 'metadata', 'deletionTimestamp') !== undefined,
        );
        await s.get(s.in('pods', 'b'), { show: (body) => at(body, 'metadata') });
      },
      { namespace: 'with-accounts' },
    );
  },
  { needs: 'controllers' },
);

export const namespaceCases = area('namespaces', (add) => {
  const ns = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
    ...more,
  });
  add(
    'a namespace has its finalizer and its phase',
    async (s) => {
      await s.post('/api/v1/namespaces', ns(`n-${s.id}`));
      await s.prepare('DELETE', `/api/v1/namespaces/n-${s.id}`);
    },
    { namespace: 'none' },
  );
  for (const [what, name] of Object.entries({
    'a dot': 'a.b',
    'a capital': 'A',
    '64 characters': 'a'.repeat(64),
  })) {
    add(`a name with ${what}`, async (s) => void (await s.post('/api/v1/namespaces', ns(name))), {
      namespace: 'none',
    });
  }
  add(
    'a namespace goes with what is in it',
    async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.delete(`/api/v1/namespaces/${s.namespace}`, undefined, {
        show: (body) => ({
          metadata: at(body, 'metadata'),
          phase: at(body, 'status', 'phase'),
          spec: at(body, 'spec'),
        }),
      });
      await s.gone(`/api/v1/namespaces/${s.namespace}`);
      await s.get(s.in('configmaps', 'a'));
      await s.post(s.in('configmaps'), configMap('b'));
    },
    { needs: 'controllers' },
  );
  add(
    'nothing is created in a namespace on its way out',
    async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
      await s.prepare('DELETE', `/api/v1/namespaces/${s.namespace}`);
      await s.post(s.in('configmaps'), configMap('b'));
      await s.post(s.in('pods'), pod('b'));
      await s.patch(
        'merge',
        s.in('configmaps', 'a'),
        { data: { k: 'v' } },
        { show: (body) => at(body, 'data') },
      );
      await s.settled(
        s.in('configmaps', 'a'),
        (found) => at(found, 'metadata', 'deletionTimestamp') !== undefined,
      );
      await s.delete(`/api/v1/namespaces/${s.namespace}`, undefined, {
        show: (body) => ({ ...(body as object), status: undefined, metadata: undefined }),
      });
      await s.prepare('PATCH', s.in('configmaps', 'a'), { metadata: { finalizers: null } }, merge);
      await s.gone(`/api/v1/namespaces/${s.namespace}`);
    },
    { needs: 'controllers' },
  );
  add(
    'what keeps a namespace from going is told in its conditions',
    async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a', {}, { finalizers: ['example.com/wait'] }));
      await s.prepare('DELETE', `/api/v1/namespaces/${s.namespace}`);
      await s.settled(`/api/v1/namespaces/${s.namespace}`, (found) => {
        const conditions = at(found, 'status', 'conditions');
        return (
          Array.isArray(conditions) &&
          conditions.some(
            (one) => at(one, 'type') === 'NamespaceFinalizersRemaining' && at(one, 'status') === 'True',
          )
        );
      });
      await s.get(`/api/v1/namespaces/${s.namespace}`, { show: (body) => at(body, 'status') });
      await s.prepare('PATCH', s.in('configmaps', 'a'), { metadata: { finalizers: null } }, merge);
      await s.gone(`/api/v1/namespaces/${s.namespace}`);
    },
    { needs: 'controllers' },
  );
  add('the finalizers of a namespace go through their own door', async (s) => {
    const path = `/api/v1/namespaces/${s.namespace}`;
    const found = await s.peek(path);
    await s.put(path, { ...found, spec: { finalizers: [] } }, { show: (body) => at(body, 'spec') });
    const now = await s.peek(path);
    await s.put(
      `${path}/finalize`,
      { ...now, spec: { finalizers: ['kubernetes', 'example.com/x'] } },
      { show: (body) => at(body, 'spec') },
    );
    await s.put(`${path}/finalize`, { ...(await s.peek(path)), spec: { finalizers: ['nonsense'] } });
    await s.put(
      `${path}/finalize`,
      { ...(await s.peek(path)), spec: { finalizers: ['kubernetes'] } },
      { show: (body) => at(body, 'spec') },
    );
    await s.get(`${path}/finalize`);
  });
  add(
    'a namespace gets its account and its authority',
    async (s) => {
      await s.settled(s.in('configmaps', 'kube-root-ca.crt'), (found) => found !== undefined);
      await s.get(s.in('serviceaccounts', 'default'));
      await s.get(s.in('configmaps', 'kube-root-ca.crt'), {
        show: (body) => ({ metadata: at(body, 'metadata'), keys: Object.keys(at(body, 'data') as object) }),
      });
      await s.prepare('DELETE', s.in('serviceaccounts', 'default'));
      await s.settled(s.in('serviceaccounts', 'default'), (found) => found !== undefined);
      s.note('the account came back', true);
    },
    { needs: 'controllers', namespace: 'with-accounts' },
  );
  add(
    'the default namespace stays',
    async (s) => void (await s.delete('/api/v1/namespaces/default', undefined, { show: verdict })),
    { namespace: 'none' },
  );
  add('the status of a namespace', async (s) => {
    const path = `/api/v1/namespaces/${s.namespace}`;
    await s.patch('merge', `${path}/status`, { status: { phase: 'Terminating' } });
    await s.patch(
      'merge',
      path,
      { status: { phase: 'Terminating' } },
      { show: (body) => at(body, 'status') },
    );
    await s.patch(
      'merge',
      path,
      { metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } } },
      { show: (body) => at(body, 'metadata', 'labels') ?? body },
    );
    await s.patch(
      'merge',
      path,
      { metadata: { labels: null } },
      { show: (body) => at(body, 'metadata', 'labels') ?? body },
    );
  });
});
