import { area } from '../harness/case.ts';
import { at, type JsonRecord } from '../harness/json.ts';
import { configMap, define, pod, secret, verdict, widget } from './objects.ts';

const revision = (object: unknown) => String(at(object, 'metadata', 'resourceVersion'));

export const updateCases = area('update', (add) => {
  add('an update replaces the object', async (s) => {
    const made = await s.post(s.in('configmaps'), configMap('a', { x: '1' }, { labels: { l: '1' } }));
    await s.put(
      s.in('configmaps', 'a'),
      configMap('a', { y: '2' }, { resourceVersion: revision(made.body) }),
    );
  });
  add('an old revision is refused', async (s) => {
    const made = await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.prepare('PUT', s.in('configmaps', 'a'), configMap('a', { x: '1' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', { x: '2' }, { resourceVersion: revision(made) }));
  });
  add('no revision means unconditionally, for a config map', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.put(s.in('configmaps', 'a'), configMap('a', { x: '1' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', { x: '2' }, { resourceVersion: '0' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', { x: '2' }, { resourceVersion: 'nonsense' }));
  });
  add('a custom object must say its revision', async (s) => {
    const path = await define(s);
    const made = await s.prepare('POST', path, widget(s, 'a', { spec: { n: 1 } }));
    await s.put(`${path}/a`, widget(s, 'a', { spec: { n: 2 } }));
    await s.put(`${path}/a`, widget(s, 'a', { spec: { n: 2 } }, { resourceVersion: revision(made) }));
    await s.put(`${path}/a`, widget(s, 'a', { spec: { n: 3 } }, { resourceVersion: revision(made) }));
  });
  add('what is not there cannot be updated', async (s) => {
    await s.put(s.in('configmaps', 'a'), configMap('a'));
    await s.put(s.in('secrets', 'a'), secret('a'));
    await s.put(s.in('pods', 'a'), pod('a'));
    await s.put(s.in('configmaps', 'a'), configMap('a', {}, { resourceVersion: '1' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', {}, { uid: 'x' }));
  });
  add('a custom object that is not there', async (s) => {
    const path = await define(s);
    await s.put(`${path}/a`, widget(s, 'a'));
    await s.put(`${path}/a`, widget(s, 'a', {}, { resourceVersion: '1' }));
  });
  add('a lease may be created by an update', async (s) => {
    const path = s.in('coordination.k8s.io/v1/leases', 'a');
    await s.put(path, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'a' },
      spec: {},
    });
  });
  add('the name in the body must be that in the path', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.put(s.in('configmaps', 'a'), configMap('b'));
    await s.put(s.in('configmaps', 'a'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} });
    await s.put(s.in('configmaps', 'a'), { apiVersion: 'v1', kind: 'ConfigMap' });
  });
  add('the namespace in the body', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.put(s.in('configmaps', 'a'), configMap('a', {}, { namespace: 'default' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', { k: '1' }, { namespace: s.namespace }), {
      show: verdict,
    });
  });
  add('another uid is another object', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.put(s.in('configmaps', 'a'), configMap('a', {}, { uid: 'e0d5b1d2-0000-4000-8000-000000000000' }));
  });
  add('metadata that cannot change stays', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.put(
      s.in('configmaps', 'a'),
      configMap(
        'a',
        {},
        {
          creationTimestamp: '2001-01-01T00:00:00Z',
          generation: 7,
          deletionTimestamp: '2001-01-01T00:00:00Z',
        },
      ),
    );
    await s.put(s.in('configmaps', 'a'), configMap('a', {}, { generateName: 'x-' }));
  });
  add('an update without a change keeps the revision', async (s) => {
    const made = await s.post(s.in('configmaps'), configMap('a', { k: 'v' }));
    const kept = await s.put(s.in('configmaps', 'a'), configMap('a', { k: 'v' }));
    s.note('kept', revision(made.body) === revision(kept.body));
  });
  add('generation grows with the spec and not with metadata', async (s) => {
    const path = await define(s);
    const generation = (body: unknown) => at(body, 'metadata', 'generation');
    let made = (await s.post(path, widget(s, 'a', { spec: { n: 1 } }), { show: generation }))
      .body as JsonRecord;
    made = (await s.put(`${path}/a`, { ...made, spec: { n: 2 } }, { show: generation })).body as JsonRecord;
    made = (
      await s.put(
        `${path}/a`,
        { ...made, metadata: { ...(made.metadata as object), labels: { a: 'b' } } },
        { show: generation },
      )
    ).body as JsonRecord;
    made = (await s.put(`${path}/a`, { ...made, status: { x: 1 } }, { show: generation })).body as JsonRecord;
    await s.put(
      `${path}/a`,
      { ...made, metadata: { ...(made.metadata as object), generation: 40 } },
      { show: generation },
    );
  });
  add('a changed owner without uid is refused', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.put(
      s.in('configmaps', 'a'),
      configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] }),
    );
  });
  add('an immutable config map and secret', async (s) => {
    await s.prepare('POST', s.in('configmaps'), { ...configMap('a', { k: 'v' }), immutable: true });
    await s.put(s.in('configmaps', 'a'), { ...configMap('a', { k: 'w' }), immutable: true });
    await s.put(s.in('configmaps', 'a'), configMap('a', { k: 'v' }));
    await s.put(
      s.in('configmaps', 'a'),
      { ...configMap('a', { k: 'v' }, { labels: { l: '1' } }), immutable: true },
      { show: verdict },
    );
    await s.prepare('POST', s.in('secrets'), secret('a', { stringData: { k: 'v' }, immutable: true }));
    await s.put(s.in('secrets', 'a'), secret('a', { stringData: { k: 'w' }, immutable: true }));
  });
  add('the type of a secret cannot change', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a', { type: 'example.com/x' }));
    await s.put(s.in('secrets', 'a'), secret('a', { type: 'example.com/y' }));
  });
  add('methods a collection does not have', async (s) => {
    await s.put(s.in('configmaps'), configMap('a'));
    await s.patch('merge', s.in('configmaps'), {});
    await s.post(s.in('configmaps', 'a'), configMap('a'));
  });
});

export const patchCases = area('patch', (add) => {
  add('a merge patch adds, changes and removes', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', { x: '1', y: '2' }, { labels: { l: '1' } }));
    await s.patch('merge', s.in('configmaps', 'a'), {
      data: { x: null, y: '3', z: '4' },
      metadata: { labels: null, annotations: { n: '1' } },
    });
  });
  add('a merge patch without a change keeps the revision', async (s) => {
    await s.post(s.in('configmaps'), configMap('a', { x: '1' }));
    await s.patch('merge', s.in('configmaps', 'a'), {});
    await s.patch('merge', s.in('configmaps', 'a'), { data: { x: '1' } });
    await s.patch('merge', s.in('configmaps', 'a'), { data: { nosuch: null } });
  });
  add('a merge patch with a revision', async (s) => {
    const made = await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.patch('merge', s.in('configmaps', 'a'), {
      metadata: { resourceVersion: revision(made) },
      data: { x: '1' },
    });
    await s.patch('merge', s.in('configmaps', 'a'), {
      metadata: { resourceVersion: revision(made) },
      data: { x: '2' },
    });
    await s.patch(
      'merge',
      s.in('configmaps', 'a'),
      { metadata: { resourceVersion: null }, data: { x: '3' } },
      { show: verdict },
    );
  });
  add('a merge patch of what cannot change', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { name: 'b' } });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { namespace: 'default' } });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { uid: 'x' } });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { uid: null } }, { show: verdict });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { creationTimestamp: null } });
    await s.patch('merge', s.in('configmaps', 'a'), { kind: 'Secret' });
    await s.patch('merge', s.in('configmaps', 'a'), { kind: null }, { show: verdict });
    await s.patch('merge', s.in('configmaps', 'a'), { apiVersion: 'v2' });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: null });
  });
  for (const [what, patch] of Object.entries({ 'a list': [], 'a text': 'x', null: null, 'a number': 1 })) {
    add(`a merge patch that is ${what}`, async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.patch('merge', s.in('configmaps', 'a'), patch);
    });
  }
  add('a patch of wrong types', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.patch('merge', s.in('configmaps', 'a'), { data: { k: 1 } });
    await s.patch('merge', s.in('configmaps', 'a'), { data: 'x' });
    await s.patch('merge', s.in('configmaps', 'a'), { metadata: { labels: { 'a b': 'x' } } });
  });
  add('a patch of what is not there', async (s) => {
    await s.patch('merge', s.in('configmaps', 'a'), { data: {} });
    await s.patch('json', s.in('configmaps', 'a'), []);
  });

  const jsonPatches: Readonly<Record<string, unknown>> = {
    'adds a field': [{ op: 'add', path: '/data/z', value: '9' }],
    'adds over what is there': [{ op: 'add', path: '/data/x', value: '9' }],
    'removes a field': [{ op: 'remove', path: '/data/x' }],
    'removes what is not there': [{ op: 'remove', path: '/data/nosuch' }],
    'replaces a field': [{ op: 'replace', path: '/data/x', value: '9' }],
    'replaces what is not there': [{ op: 'replace', path: '/data/nosuch', value: '9' }],
    moves: [{ op: 'move', from: '/data/x', path: '/data/z' }],
    copies: [{ op: 'copy', from: '/data/x', path: '/data/z' }],
    'copies what is not there': [{ op: 'copy', from: '/data/nosuch', path: '/data/z' }],
    'tests and succeeds': [
      { op: 'test', path: '/data/x', value: '1' },
      { op: 'replace', path: '/data/x', value: '2' },
    ],
    'tests and fails': [{ op: 'test', path: '/data/x', value: '7' }],
    'tests what is not there': [{ op: 'test', path: '/data/nosuch', value: '7' }],
    'tests for absence': [{ op: 'test', path: '/data/nosuch', value: null }],
    'adds to the end of a list': [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/b' }],
    'inserts into a list': [{ op: 'add', path: '/metadata/finalizers/0', value: 'example.com/b' }],
    'inserts beyond a list': [{ op: 'add', path: '/metadata/finalizers/5', value: 'example.com/b' }],
    'removes a last element': [{ op: 'remove', path: '/metadata/finalizers/0' }],
    'uses escapes': [
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/example.com~1a~0b', value: 'x' },
    ],
    'adds below what is not there': [{ op: 'add', path: '/nosuch/deep', value: 'x' }],
    'has an unknown operation': [{ op: 'nonsense', path: '/data/x' }],
    'has no operation': [{ path: '/data/x' }],
    'has no path': [{ op: 'remove' }],
    'has no value': [{ op: 'add', path: '/data/z' }],
    'has a path without a slash': [{ op: 'add', path: 'data', value: {} }],
    'replaces the whole': [
      { op: 'replace', path: '', value: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } },
    ],
    'removes the name': [{ op: 'remove', path: '/metadata/name' }],
    'removes all metadata': [{ op: 'remove', path: '/metadata' }],
    'is empty': [],
    'is an object': { op: 'add', path: '/data/z', value: '9' },
    'is null': null,
    'holds a number': [1],
    'has too many operations': Array.from({ length: 10_001 }, () => ({
      op: 'test',
      path: '/data/x',
      value: '1',
    })),
  };
  for (const [what, patch] of Object.entries(jsonPatches)) {
    add(`a JSON patch that ${what}`, async (s) => {
      await s.prepare(
        'POST',
        s.in('configmaps'),
        configMap('a', { x: '1', y: '2' }, { finalizers: ['example.com/a'] }),
      );
      await s.patch('json', s.in('configmaps', 'a'), patch);
    });
  }
  add('a JSON patch of a custom object', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a', { spec: { list: [1, 2, 3] } }));
    await s.patch('json', `${path}/a`, [
      { op: 'remove', path: '/spec/list/1' },
      { op: 'add', path: '/spec/deep', value: { a: [] } },
    ]);
    await s.patch('json', `${path}/a`, [{ op: 'test', path: '/spec/list', value: [1, 3] }]);
  });
  add('a patch must say its type', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    for (const type of ['application/json', 'text/plain', 'application/nonsense+json']) {
      await s.send({
        method: 'PATCH',
        path: s.in('configmaps', 'a'),
        headers: { 'content-type': type },
        body: '{}',
      });
    }
  });
  add(
    'a patch without any type',
    async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      await s.send({ method: 'PATCH', path: s.in('configmaps', 'a'), body: '{}' });
    },
    { needs: 'bytes' },
  );
  add('a custom object takes no strategic merge patch', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a'));
    await s.patch('strategic', `${path}/a`, { spec: { n: 1 } });
  });
  add(
    'a malformed patch',
    async (s) => {
      await s.prepare('POST', s.in('configmaps'), configMap('a'));
      for (const type of ['application/merge-patch+json', 'application/json-patch+json']) {
        for (const body of ['{', 'nonsense', '']) {
          await s.send({
            method: 'PATCH',
            path: s.in('configmaps', 'a'),
            headers: { 'content-type': type },
            body,
          });
        }
      }
    },
    { needs: 'bytes' },
  );
  add('force and fieldManager belong to apply', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.patch('merge', s.in('configmaps', 'a'), {}, { query: { force: 'true' } });
    await s.patch('merge', s.in('configmaps', 'a'), {}, { query: { fieldManager: 'x' }, show: verdict });
    await s.patch('merge', s.in('configmaps', 'a'), {}, { query: { fieldManager: 'x'.repeat(129) } });
    await s.patch('merge', s.in('configmaps', 'a'), {}, { query: { fieldManager: 'bad\u0007name' } });
  });
});

export const dryRunCases = area('dry-run', (add) => {
  const query = { dryRun: 'All' };
  add('a create says what would be, and is not', async (s) => {
    await s.post(s.in('configmaps'), configMap('a', { k: 'v' }), { query });
    await s.get(s.in('configmaps', 'a'));
  });
  add('a create with a generated name', async (s) => {
    await s.post(
      s.in('configmaps'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } },
      { query },
    );
  });
  add('a create of what is there', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.post(s.in('configmaps'), configMap('a'), { query });
  });
  add(
    'a create that is invalid',
    async (s) => void (await s.post(s.in('configmaps'), configMap('A'), { query })),
  );
  add('an update and a patch', async (s) => {
    await s.post(s.in('configmaps'), configMap('a', { k: '1' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', { k: '2' }), { query });
    await s.patch('merge', s.in('configmaps', 'a'), { data: { k: '3' } }, { query });
    await s.patch('json', s.in('configmaps', 'a'), [{ op: 'add', path: '/data/z', value: '4' }], { query });
    await s.get(s.in('configmaps', 'a'));
  });
  add('a conflict is told', async (s) => {
    const made = await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.prepare('PUT', s.in('configmaps', 'a'), configMap('a', { k: '1' }));
    await s.put(s.in('configmaps', 'a'), configMap('a', { k: '2' }, { resourceVersion: revision(made) }), {
      query,
    });
  });
  add('a delete', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.delete(s.in('configmaps', 'a'), undefined, { query });
    await s.delete(s.in('configmaps', 'a'), { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] });
    await s.get(s.in('configmaps', 'a'), { show: verdict });
  });
  add('a delete of a collection', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a'));
    await s.delete(s.in('secrets'), undefined, { query });
    await s.get(s.in('secrets', 'a'), { show: verdict });
  });
  add('a custom object', async (s) => {
    const path = await define(s, {
      schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { n: { type: 'integer', default: 5 } } } },
      },
    });
    await s.post(path, widget(s, 'a', { spec: {} }), { query });
    await s.prepare('POST', path, widget(s, 'a', { spec: {} }));
    await s.patch('merge', `${path}/a`, { spec: { n: 6 } }, { query });
    await s.get(`${path}/a`);
  });
  for (const dryRun of ['', 'Some', 'all', 'true']) {
    add(`dryRun=${dryRun}`, async (s) => {
      await s.post(s.in('configmaps'), configMap('a'), { query: { dryRun }, show: verdict });
      await s.get(s.in('configmaps', 'a'), { show: verdict });
    });
  }
  add('dryRun given twice', async (s) => {
    await s.post(s.in('configmaps'), configMap('a'), { query: { dryRun: ['All', 'All'] }, show: verdict });
    await s.post(s.in('configmaps'), configMap('a'), { query: { dryRun: ['All', 'Some'] }, show: verdict });
  });
  add('a bad dryRun on the other writes', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    const bad = { query: { dryRun: 'Some' } };
    await s.put(s.in('configmaps', 'a'), configMap('a'), bad);
    await s.patch('merge', s.in('configmaps', 'a'), {}, bad);
    await s.delete(s.in('configmaps', 'a'), undefined, bad);
    await s.delete(s.in('configmaps', 'a'), { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['Some'] });
  });
});
