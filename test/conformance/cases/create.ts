import { area } from '../harness/case.ts';
import { configMap, pod, verdict } from './objects.ts';

export const createCases = area('create', (add) => {
  add('an object is stored as it was sent, with metadata of its own', async (s) => {
    await s.post(
      s.in('configmaps'),
      configMap('a', { k: 'v' }, { labels: { app: 'x' }, annotations: { 'example.com/n': '1' } }),
    );
    await s.get(s.in('configmaps', 'a'));
  });
  add('a name that is taken is refused', async (s) => {
    await s.post(s.in('configmaps'), configMap('a'));
    await s.post(s.in('configmaps'), configMap('a'));
  });
  add('neither name nor generateName', async (s) => {
    await s.post(s.in('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} });
    await s.post(s.in('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap' });
  });
  add('generateName gives a name with that beginning', async (s) => {
    const { body } = await s.post(s.in('configmaps'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'gen-' },
    });
    const name = String((body as { metadata: { name: string } }).metadata.name);
    s.note('its form', /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(name));
  });
  add('a long generateName is cut', async (s) => {
    const generateName = 'x'.repeat(80);
    const { body } = await s.post(
      s.in('configmaps'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName } },
      { show: verdict },
    );
    s.note('its length', String((body as { metadata: { name: string } }).metadata.name).length);
  });
  add('a name beside generateName wins', async (s) => {
    await s.post(s.in('configmaps'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'mine', generateName: 'gen-' },
    });
  });
  add('generateName must be the beginning of a name', async (s) => {
    await s.post(
      s.in('configmaps'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'Not_Good' } },
      {
        show: (body) => ({ ...(body as object), message: undefined, details: undefined }),
      },
    );
  });
  add('kind and apiVersion may be left out', async (s) => {
    await s.post(s.in('configmaps'), { metadata: { name: 'a' }, data: { k: 'v' } });
  });
  add('another kind than the path names', async (s) => {
    await s.post(s.in('configmaps'), { ...configMap('a'), kind: 'Secret' });
    await s.post(s.in('configmaps'), { ...configMap('a'), kind: 'Nonsense' });
  });
  add('another apiVersion than the path names', async (s) => {
    await s.post(s.in('configmaps'), { ...configMap('a'), apiVersion: 'v2' });
    await s.post(s.in('configmaps'), { ...configMap('a'), apiVersion: 'apps/v1' });
    await s.post(s.in('configmaps'), { ...configMap('a'), apiVersion: 'a/b/c' });
  });
  add('the namespace of the body must be that of the path', async (s) => {
    await s.post(s.in('configmaps'), configMap('a', {}, { namespace: 'default' }));
    await s.post(s.in('configmaps'), configMap('b', {}, { namespace: s.namespace }), { show: verdict });
    await s.post(s.in('configmaps'), configMap('c', {}, { namespace: '' }), { show: verdict });
  });
  add('a namespace that is not there', async (s) => {
    await s.post('/api/v1/namespaces/nowhere-at-all/configmaps', configMap('a'));
  });
  add('a namespaced kind without a namespace', async (s) => {
    await s.post('/api/v1/configmaps', configMap('a'));
    await s.post('/api/v1/configmaps', configMap('a', {}, { namespace: s.namespace }));
  });
  add('a resourceVersion is refused', async (s) => {
    await s.post(s.in('configmaps'), configMap('a', {}, { resourceVersion: '7' }));
    await s.post(s.in('configmaps'), configMap('b', {}, { resourceVersion: '' }), { show: verdict });
    await s.post(s.in('configmaps'), configMap('c', {}, { resourceVersion: '0' }));
  });
  add('what the server owns in metadata is not taken from the client', async (s) => {
    await s.post(
      s.in('configmaps'),
      configMap(
        'a',
        {},
        {
          uid: 'e0d5b1d2-0000-4000-8000-000000000000',
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          generation: 9,
          selfLink: '/x',
        },
      ),
    );
  });
  add(
    'the status of a pod is not taken from the client',
    async (s) => {
      await s.post(
        s.in('pods'),
        { ...pod('a'), status: { phase: 'Running', podIP: '10.1.1.1' } },
        {
          show: (body) => (body as { status?: unknown }).status,
        },
      );
    },
    { namespace: 'with-accounts' },
  );

  const badNames: Readonly<Record<string, string>> = {
    'with an upper case letter': 'Upper',
    'with an underscore': 'a_b',
    'that begins with a dash': '-a',
    'that ends with a dot': 'a.',
    'with an empty part': 'a..b',
    'of 254 characters': 'a'.repeat(254),
  };
  for (const [how, name] of Object.entries(badNames)) {
    add(`a name ${how}`, async (s) => void (await s.post(s.in('configmaps'), configMap(name))));
  }
  add('a name with a slash or a percent sign', async (s) => {
    await s.post(s.in('configmaps'), configMap('a/b'));
    await s.post(s.in('configmaps'), configMap('a%b'));
    await s.post(s.in('configmaps'), configMap('..'));
  });
  add('a name of 253 characters is allowed', async (s) => {
    await s.post(s.in('configmaps'), configMap('a'.repeat(253)), { show: verdict });
  });

  const badMeta: Readonly<Record<string, object>> = {
    'a label key with two slashes': { labels: { 'a/b/c': 'x' } },
    'an empty label key': { labels: { '': 'x' } },
    'a label key with a bad prefix': { labels: { 'Bad_Prefix/x': 'y' } },
    'a label key of 64 characters': { labels: { ['k'.repeat(64)]: 'x' } },
    'a label value with a space': { labels: { k: 'a b' } },
    'a label value of 64 characters': { labels: { k: 'v'.repeat(64) } },
    'an annotation key with a space': { annotations: { 'a b': 'x' } },
    'an upper case annotation prefix is allowed': { annotations: { 'Example.com/x': 'y' } },
    'annotations of 257 KiB': { annotations: { big: 'x'.repeat(263_000) } },
    'a finalizer without a slash': { finalizers: ['nonsense'] },
    'a finalizer with a bad name': { finalizers: ['example.com/b c'] },
    'an empty finalizer': { finalizers: [''] },
    'an owner without a uid': { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '' }] },
    'an owner without anything': { ownerReferences: [{}] },
    'an owner with a bad apiVersion': {
      ownerReferences: [{ apiVersion: 'a/b/c', kind: 'Pod', name: 'x', uid: 'u' }],
    },
    'an Event as owner': { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: 'u' }] },
    'two controllers': {
      ownerReferences: [1, 2].map((n) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        name: `x${n}`,
        uid: `u${n}`,
        controller: true,
      })),
    },
  };
  for (const [what, meta] of Object.entries(badMeta)) {
    add(
      `${what}`,
      async (s) =>
        void (await s.post(s.in('configmaps'), configMap('a', {}, meta as never), { show: verdict })),
    );
  }

  const wrongTypes: Readonly<Record<string, unknown>> = {
    'labels that are a list': { metadata: { name: 'a', labels: [] } },
    'a label that is a number': { metadata: { name: 'a', labels: { k: 1 } } },
    'a label that is null': { metadata: { name: 'a', labels: { k: null } } },
    'annotations that are a text': { metadata: { name: 'a', annotations: 'x' } },
    'metadata that is a list': { metadata: [] },
    'metadata that is null': { metadata: null },
    'finalizers that are a text': { metadata: { name: 'a', finalizers: 'x' } },
    'a name that is a number': { metadata: { name: 1 } },
    'data that is a list': { metadata: { name: 'a' }, data: [] },
    'data with a number': { metadata: { name: 'a' }, data: { k: 1 } },
    'data with null': { metadata: { name: 'a' }, data: { k: null } },
    'data that is null': { metadata: { name: 'a' }, data: null },
    'a creationTimestamp that is no time': { metadata: { name: 'a', creationTimestamp: 'yesterday' } },
    'a generation that is a text': { metadata: { name: 'a', generation: 'x' } },
  };
  for (const [what, fields] of Object.entries(wrongTypes)) {
    add(`${what}`, async (s) => {
      await s.post(s.in('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', ...(fields as object) });
    });
  }
});
