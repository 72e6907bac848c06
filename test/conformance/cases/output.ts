import { area } from '../harness/case.ts';
import { at, type JsonRecord } from '../harness/json.ts';
import { configMap, crds, define, groupOf, pod, secret, service, widget } from './objects.ts';

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const partial = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
const partialList = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
const accounts = { namespace: 'with-accounts' } as const;

const isServiceAddress = (cell: unknown) =>
  typeof cell === 'string' && /^10\.\d+\.\d+\.\d+$/.test(cell) && cell !== '10.1.1.1';

/** Descriptions are prose, and ages depend on the clock. */
const shown = (body: unknown): unknown => {
  if (at(body, 'kind') !== 'Table') return body;
  const columns = (at(body, 'columnDefinitions') ?? []) as JsonRecord[];
  const ages = columns.flatMap(({ name }, index) =>
    ['Age', 'Last Seen', 'First Seen', 'Created At'].includes(String(name)) ? [index] : [],
  );
  const rows = (at(body, 'rows') ?? []) as JsonRecord[];
  return {
    ...(body as object),
    columnDefinitions: columns.map((column) => ({ ...column, description: typeof column.description })),
    rows: rows.map((row) => ({
      ...row,
      cells: (row.cells as unknown[]).map((cell, index) =>
        ages.includes(index) ? '<age>' : isServiceAddress(cell) ? '<address>' : cell,
      ),
    })),
  };
};

export const outputCases = area('output', (add) => {
  add('a table of config maps', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', { x: '1', y: '2' }));
    await s.get(s.in('configmaps', 'a'), { headers: table, show: shown });
    await s.get(s.in('configmaps'), {
      headers: table,
      query: { fieldSelector: 'metadata.name=a' },
      show: shown,
    });
  });
  for (const includeObject of ['None', 'Metadata', 'Object', 'Nonsense', '']) {
    add(`a table with objects: ${includeObject || 'an empty word'}`, async (s) => {
      await s.prepare('POST', s.in('secrets'), secret('a', { type: 'example.com/x' }));
      await s.get(s.in('secrets', 'a'), { headers: table, query: { includeObject }, show: shown });
    });
  }
  add(
    'a table of pods',
    async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1' }));
      await s.prepare(
        'POST',
        s.in('pods'),
        pod('b', {
          containers: [
            { name: 'x', image: 'x' },
            { name: 'y', image: 'y' },
          ],
          readinessGates: [{ conditionType: 'example.com/gate' }],
        }),
      );
      await s.prepare(
        'PATCH',
        s.in('pods', 'a', 'status'),
        {
          status: {
            phase: 'Running',
            podIP: '10.1.1.1',
            podIPs: [{ ip: '10.1.1.1' }],
            conditions: [{ type: 'Ready', status: 'True' }],
            containerStatuses: [
              {
                name: 'main',
                ready: true,
                restartCount: 0,
                image: 'x',
                imageID: 'y',
                state: { running: {} },
              },
            ],
          },
        },
        { 'content-type': 'application/merge-patch+json' },
      );
      await s.get(s.in('pods'), { headers: table, show: shown });
    },
    accounts,
  );
  const states: Readonly<Record<string, JsonRecord>> = {
    'waiting to start': {
      phase: 'Pending',
      containerStatuses: [
        {
          name: 'main',
          ready: false,
          restartCount: 0,
          image: 'x',
          imageID: '',
          state: { waiting: { reason: 'ContainerCreating' } },
        },
      ],
    },
    crashing: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'main',
          ready: false,
          restartCount: 3,
          image: 'x',
          imageID: '',
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1, finishedAt: '2020-01-01T00:00:00Z' } },
        },
      ],
    },
    done: {
      phase: 'Succeeded',
      containerStatuses: [
        {
          name: 'main',
          ready: false,
          restartCount: 0,
          image: 'x',
          imageID: '',
          state: { terminated: { exitCode: 0, reason: 'Completed' } },
        },
      ],
    },
    'ended by a signal': {
      phase: 'Failed',
      containerStatuses: [
        {
          name: 'main',
          ready: false,
          restartCount: 0,
          image: 'x',
          imageID: '',
          state: { terminated: { exitCode: 137, signal: 9 } },
        },
      ],
    },
    evicted: { phase: 'Failed', reason: 'Evicted' },
  };
  for (const [what, status] of Object.entries(states)) {
    add(
      `a table of a pod ${what}`,
      async (s) => {
        await s.prepare('POST', s.in('pods'), pod('a', { nodeName: 'n1' }));
        await s.prepare(
          'PATCH',
          s.in('pods', 'a', 'status'),
          { status },
          { 'content-type': 'application/merge-patch+json' },
        );
        await s.get(s.in('pods', 'a'), {
          headers: table,
          show: (body) =>
            ((at(body, 'rows', 0, 'cells') ?? [body]) as unknown[])
              .map((cell) => (typeof cell === 'string' ? cell.replace(/ \(\S+ ago\)/, ' (<ago>)') : cell))
              .toSpliced(4, 1),
        });
      },
      accounts,
    );
  }
  const others: Readonly<
    Record<string, readonly [path: (s: { in(resource: string): string }) => string, body: JsonRecord]>
  > = {
    services: [
      (s) => s.in('services'),
      service('a', {
        selector: { app: 'x' },
        ports: [
          { port: 80, name: 'http' },
          { port: 53, protocol: 'UDP', name: 'dns' },
        ],
      }),
    ],
    secrets: [(s) => s.in('secrets'), secret('a', { stringData: { k: 'v' } })],
    serviceaccounts: [
      (s) => s.in('serviceaccounts'),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } },
    ],
    persistentvolumeclaims: [
      (s) => s.in('persistentvolumeclaims'),
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: {
          storageClassName: 'none',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      },
    ],
    leases: [
      (s) => s.in('coordination.k8s.io/v1/leases'),
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'a' },
        spec: { holderIdentity: 'me' },
      },
    ],
    networkpolicies: [
      (s) => s.in('networking.k8s.io/v1/networkpolicies'),
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'a' },
        spec: { podSelector: { matchLabels: { a: 'b' } } },
      },
    ],
    poddisruptionbudgets: [
      (s) => s.in('policy/v1/poddisruptionbudgets'),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'a' },
        spec: { minAvailable: '50%', selector: {} },
      },
    ],
    roles: [
      (s) => s.in('rbac.authorization.k8s.io/v1/roles'),
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'a' }, rules: [] },
    ],
    rolebindings: [
      (s) => s.in('rbac.authorization.k8s.io/v1/rolebindings'),
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'a' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
        subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: 'default' }],
      },
    ],
    endpointslices: [
      (s) => s.in('discovery.k8s.io/v1/endpointslices'),
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'a' },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.1.1'] }],
        ports: [{ port: 80 }],
      },
    ],
  };
  for (const [what, [path, body]] of Object.entries(others)) {
    add(`a table of ${what}`, async (s) => {
      await s.prepare('POST', path(s), body);
      await s.get(`${path(s)}/a`, { headers: table, show: shown });
    });
  }
  for (const plural of ['namespaces', 'nodes', 'persistentvolumes']) {
    add(`the columns of ${plural}`, async (s) => {
      await s.get(`/api/v1/${plural}`, {
        headers: table,
        query: { fieldSelector: `metadata.name=${s.namespace}` },
        show: shown,
      });
    });
  }
  add(
    'the columns of an empty list',
    async (s) => void (await s.get(s.in('secrets'), { headers: table, show: shown })),
  );
  add('a table of custom objects without columns', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a'));
    await s.get(path, { headers: table, show: shown });
  });
  add('a table of custom objects with columns of every kind', async (s) => {
    const path = await define(s, {
      schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      version: {
        additionalPrinterColumns: [
          { name: 'Text', type: 'string', jsonPath: '.spec.text' },
          { name: 'Number', type: 'integer', jsonPath: '.spec.number', description: 'how many' },
          { name: 'Float', type: 'number', jsonPath: '.spec.float' },
          { name: 'Truth', type: 'boolean', jsonPath: '.spec.truth' },
          { name: 'When', type: 'date', jsonPath: '.spec.when' },
          { name: 'Deep', type: 'string', jsonPath: '.spec.deep.a.b', priority: 1 },
          { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
          { name: 'All', type: 'string', jsonPath: '.spec.list[*]' },
          { name: 'Chosen', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Label', type: 'string', jsonPath: '.metadata.labels.app\\.example\\.com/name' },
          { name: 'Object', type: 'string', jsonPath: '.spec.deep' },
          { name: 'Missing', type: 'string', jsonPath: '.spec.nosuch' },
          { name: 'Wrong', type: 'integer', jsonPath: '.spec.text' },
        ],
      },
    });
    await s.prepare(
      'POST',
      path,
      widget(
        s,
        'a',
        {
          spec: {
            text: 'x',
            number: 5,
            float: 1.5,
            truth: true,
            when: 'nonsense',
            deep: { a: { b: 'c' } },
            list: ['p', 'q'],
          },
          status: {
            conditions: [
              { type: 'Other', status: 'False' },
              { type: 'Ready', status: 'True' },
            ],
          },
        },
        { labels: { 'app.example.com/name': 'n' } },
      ),
    );
    await s.prepare('POST', path, widget(s, 'b'));
    await s.get(path, { headers: table, show: shown });
    await s.get(`${path}/a`, { headers: table, query: { includeObject: 'None' }, show: shown });
  });
  add(
    'a table of definitions',
    async (s) => {
      await define(s);
      await s.get(`${crds}/widgets.${groupOf(s)}`, {
        headers: table,
        query: { includeObject: 'None' },
        show: (body) =>
          at(body, 'columnDefinitions') && {
            columns: ((at(body, 'columnDefinitions') ?? []) as JsonRecord[]).map(
              ({ name, type, format, priority }) => ({ name, type, format, priority }),
            ),
          },
      });
    },
    { namespace: 'none' },
  );
  add('a page of a table', async (s) => {
    for (const name of ['a', 'b', 'c']) await s.prepare('POST', s.in('secrets'), secret(name));
    await s.get(s.in('secrets'), {
      headers: table,
      query: { limit: '2', includeObject: 'None' },
      show: shown,
    });
  });
  add('an error is no table', async (s) => {
    await s.get(s.in('secrets', 'nosuch'), { headers: table });
  });
  add('the older form of a table', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a'));
    await s.get(s.in('secrets', 'a'), {
      headers: { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' },
      query: { includeObject: 'None' },
      show: shown,
    });
  });
  add('a watch of tables', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a'));
    await s.settled(s.in('secrets', 'a'), (found) => found !== undefined);
    const watch = await s.watch(s.in('secrets'), { headers: table, query: { resourceVersion: '0' } });
    await watch.expect(1, { show: (event) => ({ type: event.type, object: shown(event.object) }) });
    await s.prepare('POST', s.in('secrets'), secret('b'));
    await watch.expect(1, { show: (event) => ({ type: event.type, object: shown(event.object) }) });
  });
  add('metadata only', async (s) => {
    await s.prepare('POST', s.in('configmaps'), configMap('a', { k: 'v' }, { labels: { l: '1' } }));
    await s.get(s.in('configmaps', 'a'), { headers: partial });
    await s.get(s.in('configmaps'), { headers: partialList, query: { labelSelector: 'l' } });
    await s.get(s.in('configmaps', 'a'), { headers: partialList });
    await s.get(s.in('configmaps'), { headers: partial, query: { labelSelector: 'l' } });
  });
  add('metadata of custom objects', async (s) => {
    const path = await define(s);
    await s.prepare('POST', path, widget(s, 'a', { spec: { x: 1 } }));
    await s.get(`${path}/a`, { headers: partial });
    await s.get(path, { headers: partialList });
  });
  add('a watch of metadata', async (s) => {
    await s.prepare('POST', s.in('secrets'), secret('a'));
    await s.settled(s.in('secrets', 'a'), (found) => found !== undefined);
    const watch = await s.watch(s.in('secrets'), { headers: partial, query: { resourceVersion: '0' } });
    await watch.expect(1);
  });
  add('writes answer in the form that was asked for', async (s) => {
    await s.post(s.in('configmaps'), configMap('a', { k: 'v' }), { headers: partial });
    await s.patch('merge', s.in('configmaps', 'a'), { data: { k: 'w' } }, { headers: partial });
    await s.post(s.in('configmaps'), configMap('b'), { headers: table, show: shown });
    await s.delete(s.in('configmaps', 'a'), undefined, { headers: partial });
  });
});

export const discoveryCases = area('discovery', (add) => {
  const strip = (one: JsonRecord) => ({ ...one, storageVersionHash: undefined });
  const resources = (kinds: readonly string[]) => (body: unknown) => {
    const found = at(body, 'resources');
    if (!Array.isArray(found)) return body;
    return {
      ...(body as object),
      resources: found
        .filter((one) => kinds.includes(String(at(one, 'name'))))
        .map((one) => strip(one as JsonRecord))
        .sort((a, b) => (String(at(a, 'name')) < String(at(b, 'name')) ? -1 : 1)),
    };
  };
  const groups: Readonly<Record<string, readonly string[]>> = {
    '/api/v1': [
      'configmaps',
      'secrets',
      'pods',
      'pods/status',
      'pods/log',
      'pods/binding',
      'pods/eviction',
      'bindings',
      'namespaces',
      'namespaces/status',
      'namespaces/finalize',
      'nodes',
      'nodes/status',
      'services',
      'services/status',
      'serviceaccounts',
      'events',
      'persistentvolumes',
      'persistentvolumes/status',
      'persistentvolumeclaims',
      'persistentvolumeclaims/status',
    ],
    '/apis/apiextensions.k8s.io/v1': ['customresourcedefinitions', 'customresourcedefinitions/status'],
    '/apis/coordination.k8s.io/v1': ['leases'],
    '/apis/discovery.k8s.io/v1': ['endpointslices'],
    '/apis/events.k8s.io/v1': ['events'],
    '/apis/networking.k8s.io/v1': ['networkpolicies'],
    '/apis/node.k8s.io/v1': ['runtimeclasses'],
    '/apis/policy/v1': ['poddisruptionbudgets', 'poddisruptionbudgets/status'],
    '/apis/rbac.authorization.k8s.io/v1': ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    '/apis/scheduling.k8s.io/v1': ['priorityclasses'],
    '/apis/storage.k8s.io/v1': ['storageclasses'],
    '/apis/authentication.k8s.io/v1': ['tokenreviews', 'selfsubjectreviews'],
    '/apis/authorization.k8s.io/v1': [
      'subjectaccessreviews',
      'selfsubjectaccessreviews',
      'localsubjectaccessreviews',
    ],
  };
  for (const [path, kinds] of Object.entries(groups)) {
    add(`what ${path} has`, async (s) => void (await s.get(path, { show: resources(kinds) })), {
      namespace: 'none',
    });
  }
  add(
    'the core versions',
    async (s) =>
      void (await s.get('/api', {
        show: (body) => ({ ...(body as object), serverAddressByClientCIDRs: undefined }),
      })),
    { namespace: 'none' },
  );
  add(
    'the groups we serve',
    async (s) => {
      const ours = Object.keys(groups).flatMap((path) =>
        path.startsWith('/apis/') ? [path.split('/')[2]] : [],
      );
      // Those with more versions on the real server are compared in the version we serve.
      await s.get('/apis', {
        show: (body) => ({
          kind: at(body, 'kind'),
          apiVersion: at(body, 'apiVersion'),
          groups: ((at(body, 'groups') ?? []) as JsonRecord[])
            .filter(({ name }) => ours.includes(String(name)))
            .map(({ name, preferredVersion }) => ({ name, preferredVersion }))
            .sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
        }),
      });
    },
    { namespace: 'none' },
  );
  for (const group of ['policy', 'coordination.k8s.io', 'apiextensions.k8s.io', 'nonsense.example.com']) {
    add(
      `the group ${group}`,
      async (s) =>
        void (await s.get(`/apis/${group}`, {
          show: (body) => ({ ...(body as object), versions: undefined }),
        })),
      { namespace: 'none' },
    );
  }
  const aggregated = {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
  };
  const simple = (item: unknown) => ({
    ...(item as object),
    metadata: { name: at(item, 'metadata', 'name') },
    versions: ((at(item, 'versions') ?? []) as JsonRecord[]).map((version) => ({
      ...version,
      resources: ((version.resources ?? []) as JsonRecord[])
        .map(
          (one): JsonRecord => ({
            ...one,
            subresources:
              one.subresources &&
              (one.subresources as JsonRecord[]).toSorted((a, b) =>
                String(a.subresource) < String(b.subresource) ? -1 : 1,
              ),
          }),
        )
        .toSorted((a, b) => (String(a.resource) < String(b.resource) ? -1 : 1)),
    })),
  });
  add(
    'a custom group in aggregated discovery',
    async (s) => {
      await define(s, {
        more: { names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] } },
        version: { subresources: { status: {} } },
      });
      const of = (body: unknown) =>
        ((at(body, 'items') ?? []) as JsonRecord[])
          .filter((item) => at(item, 'metadata', 'name') === '<id>.example.com')
          .map(simple);
      for (let attempt = 0; attempt < 250; attempt++) {
        const found = await s.prepare('GET', '/apis', undefined, aggregated);
        if (JSON.stringify(found).includes(`"${groupOf(s)}"`)) break;
        await new Promise((done) => setTimeout(done, 20)); // discovery follows a definition when it gets to it
      }
      await s.get('/apis', {
        headers: aggregated,
        show: (body) => ({ kind: at(body, 'kind'), apiVersion: at(body, 'apiVersion'), groups: of(body) }),
      });
    },
    { namespace: 'none' },
  );
  for (const [path, name, kinds] of [
    ['/api', undefined, ['configmaps', 'pods', 'secrets', 'namespaces']],
    ['/apis', 'coordination.k8s.io', ['leases']],
    ['/apis', 'policy', ['poddisruptionbudgets']],
  ] as const) {
    add(
      `${name ?? 'the core'} in aggregated discovery`,
      async (s) => {
        await s.get(path, {
          headers: aggregated,
          show: (body) => {
            const item = ((at(body, 'items') ?? []) as JsonRecord[]).find(
              (one) => at(one, 'metadata', 'name') === name,
            );
            const shown = simple(item ?? {});
            const first = (shown.versions[0] ?? {}) as { resources?: JsonRecord[] };
            return {
              kind: at(body, 'kind'),
              apiVersion: at(body, 'apiVersion'),
              metadata: shown.metadata,
              version: {
                ...first,
                resources: (first.resources ?? [])
                  .filter(({ resource }) => (kinds as readonly unknown[]).includes(resource))
                  .map((one) => ({ ...one, subresources: undefined })),
              },
            };
          },
        });
      },
      { namespace: 'none' },
    );
  }
  add(
    'an unknown form of discovery',
    async (s) => {
      await s.get('/apis', {
        headers: {
          accept: 'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json',
        },
        show: (body) => at(body, 'kind'),
      });
      await s.get('/apis', {
        headers: {
          accept:
            'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
        },
        show: (body) => [at(body, 'kind'), at(body, 'apiVersion')],
      });
    },
    { namespace: 'none' },
  );
  add(
    'version and health',
    async (s) => {
      await s.get('/version', {
        show: (body) => [
          at(body, 'major'),
          at(body, 'minor'),
          Object.keys(body as object)
            .filter((key) =>
              [
                'major',
                'minor',
                'gitVersion',
                'gitCommit',
                'gitTreeState',
                'buildDate',
                'goVersion',
                'compiler',
                'platform',
              ].includes(key),
            )
            .sort(),
        ],
      });
      for (const path of ['/healthz', '/livez', '/readyz', '/healthz/ping']) await s.get(path);
    },
    { namespace: 'none' },
  );
  add(
    'paths nobody has',
    async (s) => {
      for (const path of [
        '/nonsense',
        '/api/v9',
        '/apis/policy/v9',
        '/apis/policy/v1/nonsense',
        '/api/',
        '/apis/',
      ]) {
        await s.get(path, { show: (body) => (at(body, 'kind') === 'Status' ? body : at(body, 'kind')) });
      }
    },
    { namespace: 'none' },
  );
  add(
    'discovery takes no writes',
    async (s) => {
      await s.post('/apis', {}, { show: (body) => at(body, 'kind') });
      await s.delete('/api/v1');
      await s.put('/apis/policy', {});
    },
    { namespace: 'none' },
  );
});
