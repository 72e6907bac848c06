import { area } from '../harness/case.ts';
import { at, type JsonRecord } from '../harness/json.ts';
import { configMap, crds, define, groupOf, pod, verdict, widget } from './objects.ts';

const accounts = { namespace: 'with-accounts' } as const;
const merge = { 'content-type': 'application/merge-patch+json' };
const withStatus = {
  schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { replicas: { type: 'integer' }, a: { type: 'string' } } },
      status: {
        type: 'object',
        properties: {
          replicas: { type: 'integer' },
          selector: { type: 'string' },
          phase: { type: 'string' },
        },
      },
    },
  },
};

export const subresourceCases = area('subresources', (add) => {
  add('status is written only through its own door', async (s) => {
    const path = await define(s, { ...withStatus, version: { subresources: { status: {} } } });
    await s.post(path, widget(s, 'a', { spec: { a: '1' }, status: { phase: 'x' } }));
    await s.patch('merge', `${path}/a`, { status: { phase: 'y' }, spec: { a: '2' } });
    await s.patch('merge', `${path}/a/status`, { status: { phase: 'z' }, spec: { a: '3' } });
    await s.get(`${path}/a/status`);
    const now = await s.peek(`${path}/a`);
    await s.put(`${path}/a/status`, { ...now, status: { phase: 'q' } });
    await s.put(`${path}/a/status`, { ...now, status: { phase: 'r' } });
    await s.patch('json', `${path}/a/status`, [{ op: 'replace', path: '/status/phase', value: 's' }]);
  });
  add('labels through the status door', async (s) => {
    const path = await define(s, { ...withStatus, version: { subresources: { status: {} } } });
    await s.prepare('POST', path, widget(s, 'a'));
    await s.patch('merge', `${path}/a/status`, {
      metadata: { labels: { l: '1' }, annotations: { n: '1' }, finalizers: ['example.com/x'] },
      status: { phase: 'x' },
    });
  });
  add('without a status subresource the status is a field like others', async (s) => {
    const path = await define(s, withStatus);
    await s.post(path, widget(s, 'a', { status: { phase: 'x' } }));
    await s.patch('merge', `${path}/a/status`, { status: { phase: 'y' } });
    await s.get(`${path}/a/status`);
    await s.patch('merge', `${path}/a`, { status: { phase: 'y' } });
  });
  add('methods the status does not have', async (s) => {
    const path = await define(s, { ...withStatus, version: { subresources: { status: {} } } });
    await s.prepare('POST', path, widget(s, 'a'));
    await s.delete(`${path}/a/status`);
    await s.post(`${path}/a/status`, widget(s, 'a'));
  });
  add(
    'the status of a pod',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a'));
      await s.patch(
        'merge',
        s.in('pods', 'a', 'status'),
        { status: { phase: 'Running', podIP: '10.1.2.3', conditions: [{ type: 'Ready', status: 'True' }] } },
        { show: (body) => at(body, 'status') },
      );
      await s.patch(
        'merge',
        s.in('pods', 'a'),
        { status: { phase: 'Failed' } },
        { show: (body) => at(body, 'status', 'phase') },
      );
      await s.patch(
        'merge',
        s.in('pods', 'a', 'status'),
        { spec: { nodeName: 'x' } },
        { show: (body) => at(body, 'spec', 'nodeName') ?? 'none' },
      );
      await s.patch('merge', s.in('pods', 'b', 'status'), { status: {} });
    },
    accounts,
  );

  const scaled = {
    ...withStatus,
    version: {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
    },
  };
  add('the scale of a custom object', async (s) => {
    const path = await define(s, scaled);
    await s.prepare('POST', path, widget(s, 'a', { spec: { replicas: 2 } }));
    await s.get(`${path}/a/scale`);
    await s.prepare('PATCH', `${path}/a/status`, { status: { replicas: 1, selector: 'a=b' } }, merge);
    const found = await s.get(`${path}/a/scale`);
    await s.put(`${path}/a/scale`, { ...(found.body as object), spec: { replicas: 5 } });
    await s.put(`${path}/a/scale`, { ...(found.body as object), spec: { replicas: 6 } });
    await s.patch('merge', `${path}/a/scale`, { spec: { replicas: 7 } });
    await s.patch('merge', `${path}/a/scale`, { spec: { replicas: -1 } });
    await s.patch('merge', `${path}/a/scale`, { spec: { replicas: 'x' } });
    await s.get(`${path}/a`);
    await s.get(`${path}/b/scale`);
  });
  add('a scale without replicas', async (s) => {
    const path = await define(s, scaled);
    await s.prepare('POST', path, widget(s, 'a'));
    await s.get(`${path}/a/scale`);
    await s.patch('merge', `${path}/a/scale`, { spec: { replicas: 1 } });
  });
  add('a kind without scale', async (s) => {
    const path = await define(s, withStatus);
    await s.prepare('POST', path, widget(s, 'a'));
    await s.get(`${path}/a/scale`);
  });
  add(
    'the status of a definition',
    async (s) => {
      await define(s);
      const path = `${crds}/widgets.${groupOf(s)}`;
      await s.get(`${path}/status`, { show: verdict });
    },
    { namespace: 'none' },
  );

  const binding = (name: string, target: JsonRecord) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target,
  });
  add(
    'a pod is bound to a node once',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a'));
      await s.post(
        s.in('pods', 'a', 'binding'),
        binding('a', { apiVersion: 'v1', kind: 'Node', name: 'n1' }),
      );
      await s.get(s.in('pods', 'a'), {
        show: (body) => ({ node: at(body, 'spec', 'nodeName'), status: at(body, 'status') }),
      });
      await s.post(
        s.in('pods', 'a', 'binding'),
        binding('a', { apiVersion: 'v1', kind: 'Node', name: 'n2' }),
      );
      await s.post(
        s.in('pods', 'b', 'binding'),
        binding('b', { apiVersion: 'v1', kind: 'Node', name: 'n1' }),
      );
    },
    accounts,
  );
  add(
    'a binding through the collection, and one that is wrong',
    async (s) => {
      for (const name of ['a', 'b', 'c']) await s.prepare('POST', s.in('pods'), pod(name));
      await s.post(s.in('bindings'), binding('a', { kind: 'Node', name: 'n1' }));
      await s.post(s.in('pods', 'b', 'binding'), binding('b', { kind: 'Node', name: '' }));
      await s.post(s.in('pods', 'b', 'binding'), binding('b', { kind: 'Pod', name: 'x' }));
      await s.post(s.in('pods', 'b', 'binding'), binding('other', { kind: 'Node', name: 'n1' }));
      await s.post(s.in('pods', 'c', 'binding'), {
        ...binding('c', { kind: 'Node', name: 'n1' }),
        metadata: { name: 'c', annotations: { 'example.com/x': 'y' } },
      });
      await s.get(s.in('pods', 'c'), { show: (body) => at(body, 'metadata', 'annotations') });
    },
    accounts,
  );
  add(
    'a pod that is going cannot be bound',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', {}, { finalizers: ['example.com/wait'] }));
      await s.prepare('DELETE', s.in('pods', 'a'));
      await s.post(s.in('pods', 'a', 'binding'), binding('a', { kind: 'Node', name: 'n1' }));
    },
    accounts,
  );

  const eviction = (name: string, more: JsonRecord = {}) => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...more,
  });
  add(
    'an eviction deletes a pod',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a'));
      await s.post(s.in('pods', 'a', 'eviction'), eviction('a'));
      await s.get(s.in('pods', 'a'));
      await s.post(s.in('pods', 'a', 'eviction'), eviction('a'));
    },
    accounts,
  );
  add(
    'an eviction of a pod on a node',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1' }));
      await s.post(s.in('pods', 'a', 'eviction'), eviction('a'));
      await s.get(s.in('pods', 'a'), {
        show: (body) => ({ metadata: at(body, 'metadata'), conditions: at(body, 'status', 'conditions') }),
      });
    },
    accounts,
  );
  add(
    'an eviction without doing it, of another name, of another kind',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1' }));
      await s.post(s.in('pods', 'a', 'eviction'), eviction('a'), { query: { dryRun: 'All' } });
      await s.get(s.in('pods', 'a'), {
        show: (body) => at(body, 'metadata', 'deletionTimestamp') ?? 'stays',
      });
      await s.post(s.in('pods', 'a', 'eviction'), eviction('b'));
      await s.post(s.in('pods', 'a', 'eviction'), { ...eviction('a'), kind: 'Nonsense' });
      await s.post(
        s.in('pods', 'a', 'eviction'),
        eviction('a', { deleteOptions: { preconditions: { uid: 'e0d5b1d2-0000-4000-8000-000000000000' } } }),
      );
    },
    accounts,
  );
  add(
    'a budget that allows nothing stops an eviction',
    async (s) => {
      const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
      for (const name of ['a', 'b']) {
        await s.prepare('POST', s.in('pods'), pod(name, { nodeName: 'n1' }, { labels: { app: 'x' } }));
        await s.prepare('PATCH', s.in('pods', name, 'status'), ready, merge);
      }
      const budgets = s.in('policy/v1/poddisruptionbudgets');
      await s.prepare('POST', budgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
        spec: { minAvailable: 2, selector: { matchLabels: { app: 'x' } } },
      });
      await s.settled(`${budgets}/p`, (found) => at(found, 'status', 'currentHealthy') === 2);
      await s.get(`${budgets}/p`, { show: (body) => at(body, 'status') });
      await s.post(s.in('pods', 'a', 'eviction'), eviction('a'));
      await s.prepare('PATCH', `${budgets}/p`, { spec: { minAvailable: 1 } }, merge);
      await s.settled(`${budgets}/p`, (found) => at(found, 'status', 'disruptionsAllowed') === 1);
      await s.post(s.in('pods', 'a', 'eviction'), eviction('a'));
      await s.post(s.in('pods', 'b', 'eviction'), eviction('b'));
    },
    { ...accounts, needs: 'controllers' },
  );
  add('subresources of kinds that have none', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.get(s.in('configmaps', 'a', 'scale'));
    await s.put(s.in('configmaps', 'a', 'status'), configMap('a'));
    await s.post(s.in('configmaps', 'a', 'binding'), {});
  });
  add(
    'the log of a pod that is not there, or on no node',
    async (s) => {
      await s.get(s.in('pods', 'nosuch', 'log'));
      await s.prepare('POST', s.in('pods'), pod('a'));
      await s.get(s.in('pods', 'a', 'log'));
      await s.get(s.in('pods', 'a', 'log'), { query: { container: 'nosuch' } });
    },
    accounts,
  );
});

export const fieldCases = area('field-validation', (add) => {
  const forms = ['Ignore', 'Warn', 'Strict', 'Nonsense', ''] as const;
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          list: { type: 'array', items: { type: 'object', properties: { x: { type: 'integer' } } } },
        },
      },
    },
  };
  for (const fieldValidation of forms) {
    add(`unknown fields of a custom object, ${fieldValidation || 'an empty word'}`, async (s) => {
      const path = await define(s, { schema });
      await s.post(path, widget(s, 'a', { other: 1, spec: { a: 'x', b: 'y', list: [{ x: 1, y: 2 }] } }), {
        query: { fieldValidation },
      });
    });
    add(`unknown fields of a built-in kind, ${fieldValidation || 'an empty word'}`, async (s) => {
      await s.post(
        s.in('configmaps'),
        { ...configMap('a'), nonsense: 1, metadata: { name: 'a', other: 2 } },
        { query: { fieldValidation } },
      );
    });
  }
  add('without a word the server warns', async (s) => {
    const path = await define(s, { schema });
    await s.post(path, widget(s, 'a', { other: 1 }), { show: verdict });
    await s.post(s.in('configmaps'), { ...configMap('a'), nonsense: 1 }, { show: verdict });
  });
  add(
    'unknown fields deep in a pod',
    async (s) => {
      const draft = pod('a', {
        nonsense: 1,
        containers: [
          { name: 'main', image: 'x', imagePullPolcy: 'Always', ports: [{ containerPort: 80, nam: 'x' }] },
        ],
      });
      await s.post(s.in('pods'), draft, { query: { fieldValidation: 'Strict' } });
      await s.post(s.in('pods'), draft, { query: { fieldValidation: 'Warn' }, show: verdict });
    },
    { namespace: 'with-accounts' },
  );
  add('unknown fields in metadata of a custom object', async (s) => {
    const path = await define(s, { schema });
    await s.post(path, widget(s, 'a', {}, { nonsense: 1 }), { query: { fieldValidation: 'Strict' } });
    await s.post(path, widget(s, 'a', {}, { nonsense: 1 }));
  });
  add('updates and patches', async (s) => {
    const path = await define(s, { schema });
    const made = await s.prepare('POST', path, widget(s, 'a', { spec: { a: 'x' } }));
    const query = { fieldValidation: 'Strict' };
    await s.put(`${path}/a`, { ...made, spec: { b: 1 } }, { query });
    await s.patch('merge', `${path}/a`, { spec: { b: 1 } }, { query });
    await s.patch('json', `${path}/a`, [{ op: 'add', path: '/spec/b', value: 1 }], { query });
    await s.patch('merge', `${path}/a`, { spec: { b: 1 } }, { show: verdict });
    await s.prepare('POST', s.in('configmaps'), configMap('a'));
    await s.patch('merge', s.in('configmaps', 'a'), { nonsense: 1 }, { query });
    await s.patch('json', s.in('configmaps', 'a'), [{ op: 'add', path: '/nonsense', value: 1 }], { query });
    await s.patch('merge', s.in('configmaps', 'a'), { nonsense: 1 }, { show: verdict });
    await s.put(s.in('configmaps', 'a'), { ...configMap('a'), nonsense: 1 }, { query });
  });
  add('fields in another case', async (s) => {
    await s.post(s.in('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', Metadata: { name: 'a' } });
    await s.post(
      s.in('configmaps'),
      { ...configMap('a'), Data: { k: 'v' } },
      {
        show: (body) => ({
          kind: at(body, 'kind'),
          data: at(body, 'data') ?? 'none',
          message: at(body, 'message') ?? 'none',
        }),
      },
    );
  });
  const json = { 'content-type': 'application/json' };
  for (const fieldValidation of ['Ignore', 'Warn', 'Strict']) {
    add(
      `a field twice, ${fieldValidation}`,
      async (s) => {
        const path = await define(s, { schema });
        const body = `{"apiVersion":"${groupOf(s)}/v1","kind":"Widget","metadata":{"name":"a","name":"b"},"spec":{"a":"1","a":"2","list":[{"x":1,"x":2}]}}`;
        await s.send({ method: 'POST', path, headers: json, body }, { query: { fieldValidation } });
        await s.send(
          {
            method: 'POST',
            path: s.in('configmaps'),
            headers: json,
            body: '{"metadata":{"name":"a"},"data":{"k":"1","k":"2"},"data":{"j":"3"}}',
          },
          { query: { fieldValidation } },
        );
      },
      { needs: 'bytes' },
    );
  }
  add('several warnings', async (s) => {
    const path = await define(s, { schema });
    const spec = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`unknown${String(index).padStart(2, '0')}`, 1]),
    );
    await s.post(path, widget(s, 'a', { spec }), { show: verdict });
    await s.post(path, widget(s, 'b', { spec }), { query: { fieldValidation: 'Strict' } });
  });
});
