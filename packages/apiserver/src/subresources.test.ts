/** JSON patches, scales, evictions and what else is written in a way of its own. Through both doors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Status } from '@hutch/kube-meta';
import {
  aPod,
  aWidget,
  doors,
  furnish,
  type OpenRig,
  pods,
  type Rig,
  widgetDefinition,
  widgets,
} from './test-rig.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = 'application/merge-patch+json';

async function furnished(open: OpenRig): Promise<Rig> {
  const rig = await open();
  await furnish(rig);
  return rig;
}

interface Widget {
  readonly spec: { readonly size: number };
}

for (const { name: doorName, open } of doors) {
  describe(`JSON patches ${doorName}`, () => {
    const patch = (rig: Rig, operations: unknown) =>
      rig.call<Status & Widget>('PATCH', `${widgets}/a`, {
        body: operations,
        contentType: 'application/json-patch+json',
      });

    test('change what they name, or nothing', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const done = await patch(rig, [
        { op: 'test', path: '/spec/size', value: 1 },
        { op: 'replace', path: '/spec/size', value: 4 },
      ]);
      assert.equal(done.object.spec.size, 4);
      const failed = await patch(rig, [{ op: 'test', path: '/spec/size', value: 1 }]);
      assert.equal(failed.status, 422);
      assert.equal(failed.object.reason, 'Invalid');
      assert.equal((await patch(rig, {})).status, 400);
      assert.equal((await patch(rig, ['x'])).status, 400);
      const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Widget' }));
      assert.equal((await patch(rig, many)).status, 413);
    });
  });

  describe(`scales ${doorName}`, () => {
    const scalable = {
      ...widgetDefinition,
      spec: {
        ...widgetDefinition.spec,
        versions: widgetDefinition.spec.versions.map((version) => ({
          ...version,
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
          },
        })),
      },
    };

    async function withScale(): Promise<Rig> {
      const rig = await open();
      await rig.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'default' } } });
      await rig.call('POST', definitions, { body: scalable });
      await rig.call('POST', widgets, { body: aWidget('a', { spec: { size: 3 } }) });
      return rig;
    }

    test('show one number of an object, and change it', async () => {
      await using rig = await withScale();
      const { object } = await rig.call<Record<string, unknown>>('GET', `${widgets}/a/scale`);
      assert.equal(object.kind, 'Scale');
      assert.deepEqual([object.spec, object.status], [{ replicas: 3 }, { replicas: 0 }]);
      const put = await rig.call('PUT', `${widgets}/a/scale`, {
        body: { metadata: { name: 'a' }, spec: { replicas: 5 } },
      });
      assert.deepEqual(put.object.spec, { replicas: 5 });
      const patched = await rig.call('PATCH', `${widgets}/a/scale`, {
        body: { spec: { replicas: 6 } },
        contentType: merge,
      });
      assert.deepEqual(patched.object.spec, { replicas: 6 });
      assert.equal((await rig.call<Widget>('GET', `${widgets}/a`)).object.spec.size, 6);
    });

    test('refuse what is no number of replicas, or of another version', async () => {
      await using rig = await withScale();
      const put = (body: object) => rig.call<Status>('PUT', `${widgets}/a/scale`, { body });
      const negative = await put({ metadata: { name: 'a' }, spec: { replicas: -1 } });
      assert.equal(negative.status, 422);
      assert.match(
        negative.object.message ?? '',
        /\.spec\.size: Invalid value: -1: should be a non-negative/,
      );
      assert.equal((await put({ metadata: { name: 'a' }, spec: { replicas: 'x' } })).status, 400);
      const stale = await put({ metadata: { name: 'a', resourceVersion: '1' }, spec: { replicas: 1 } });
      assert.equal(stale.status, 409);
      assert.equal((await rig.call('DELETE', `${widgets}/a/scale`)).status, 405);
    });
  });

  describe(`evictions ${doorName}`, () => {
    const evict = (rig: Rig, query = '') =>
      rig.call<Status>('POST', `${pods}/a/eviction${query}`, {
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } },
      });

    async function withBudget(rig: Rig, disruptionsAllowed: number): Promise<void> {
      await rig.call('POST', budgets, {
        body: {
          metadata: { name: 'b' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
        },
      });
      const status = {
        observedGeneration: 1,
        disruptionsAllowed,
        currentHealthy: 1 + disruptionsAllowed,
        desiredHealthy: 1,
        expectedPods: 2,
      };
      await rig.call('PATCH', `${budgets}/b/status`, { body: { status }, contentType: merge });
    }

    async function running(rig: Rig): Promise<void> {
      const pod = { ...aPod('a', { nodeName: 'n' }), metadata: { name: 'a', labels: { app: 'x' } } };
      await rig.call('POST', pods, { body: pod });
      await rig.call('PATCH', `${pods}/a/status`, {
        body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
        contentType: merge,
      });
    }

    test('of a pod without a budget are deletions that say why', async () => {
      await using rig = await furnished(open);
      await running(rig);
      assert.equal((await evict(rig, '?dryRun=All')).status, 201);
      const before = await rig.call('GET', `${pods}/a`);
      assert.equal(before.object.metadata.deletionTimestamp, undefined);
      const { status, object } = await evict(rig);
      assert.deepEqual([status, object.status, object.code], [201, 'Success', 201]);
      const pod = (await rig.call('GET', `${pods}/a`)).object;
      assert.ok(pod.metadata.deletionTimestamp);
      const { conditions } = pod.status as { conditions: { type: string }[] };
      assert.ok(conditions.some(({ type }) => type === 'DisruptionTarget'));
    });

    test('are refused when a budget has nothing to give, and spend it when it has', async () => {
      await using rig = await furnished(open);
      await running(rig);
      await withBudget(rig, 0);
      const refused = await evict(rig);
      assert.equal(refused.status, 429);
      assert.match(
        refused.object.details?.causes?.[0]?.message ?? '',
        /The disruption budget b needs 1 healthy pods and has 1 currently/,
      );
      await rig.call('PATCH', `${budgets}/b/status`, {
        body: { status: { disruptionsAllowed: 1 } },
        contentType: merge,
      });
      assert.equal((await evict(rig)).status, 201);
      const { object } = await rig.call('GET', `${budgets}/b`);
      const { disruptionsAllowed, disruptedPods } = object.status as Record<string, unknown>;
      assert.equal(disruptionsAllowed, 0);
      assert.deepEqual(Object.keys(disruptedPods as object), ['a']);
    });

    test('are of the pod their path names', async () => {
      await using rig = await furnished(open);
      assert.equal((await evict(rig)).status, 404);
      const other = await rig.call('POST', `${pods}/other/eviction`, { body: { metadata: { name: 'a' } } });
      assert.equal(other.status, 400);
    });
  });

  describe(`options of writes ${doorName}`, () => {
    test('a dry run of every write answers as if and changes nothing', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const { revision } = rig.storage;
      const { object } = await rig.call<Widget & { metadata: object }>('GET', `${widgets}/a`);
      const calls: [string, 'POST' | 'PUT' | 'PATCH' | 'DELETE', string, unknown][] = [
        ['create', 'POST', widgets, aWidget('b')],
        ['update', 'PUT', `${widgets}/a`, { ...object, spec: { size: 7 } }],
        ['patch', 'PATCH', `${widgets}/a`, { spec: { size: 7 } }],
        ['delete', 'DELETE', `${widgets}/a`, undefined],
      ];
      for (const [what, method, path, body] of calls) {
        const answer = await rig.call(method, `${path}?dryRun=All`, {
          ...(body === undefined ? {} : { body }),
          ...(method === 'PATCH' ? { contentType: merge } : {}),
        });
        assert.ok(answer.status < 300, what);
      }
      assert.equal(rig.storage.revision, revision);
      assert.equal((await rig.call('POST', `${widgets}?dryRun=Some`, { body: aWidget('b') })).status, 422);
    });

    test('a lease that is not there is made by an update, a widget is not', async () => {
      await using rig = await furnished(open);
      const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
      const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
      assert.equal((await rig.call('PUT', `${leases}/l`, { body: lease })).status, 201);
      assert.equal((await rig.call('PUT', `${leases}/l`, { body: lease })).status, 422);
      assert.equal((await rig.call('PUT', `${widgets}/a`, { body: aWidget('a') })).status, 404);
    });

    test('a name that is still going is told apart from one that is taken', async () => {
      await using rig = await furnished(open);
      const held = aWidget('a', { metadata: { name: 'a', finalizers: ['example.com/x'] } });
      await rig.call('POST', widgets, { body: held });
      await rig.call('DELETE', `${widgets}/a`);
      const { status, object } = await rig.call<Status>('POST', widgets, { body: aWidget('a') });
      assert.equal(status, 409);
      assert.match(
        object.message ?? '',
        /^object is being deleted: widgets\.example\.com "a" already exists$/,
      );
    });
  });
}
