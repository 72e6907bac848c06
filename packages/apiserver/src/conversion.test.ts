/** Kinds whose versions only somebody outside can convert. Through both doors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObjectList, Status } from '@hutch/kube-meta';
import type { CallWebhook } from './kinds/custom/conversion.ts';
import type { ApiObject } from './kinds/kind.ts';
import { doors, type Rig, take } from './test-rig.ts';

const schema = (field: string) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { [field]: { type: 'integer' } } } },
  },
});

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gauges.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'gauges', kind: 'Gauge' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: schema('metres') },
      { name: 'v2', served: true, storage: false, schema: schema('millimetres') },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url: 'https://converter.example.com/' },
      },
    },
  },
};

interface Review {
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly (ApiObject & { spec: { metres?: number; millimetres?: number } })[];
  };
}

/** v1 measures in metres, v2 in millimetres. */
const convert: CallWebhook = async (_, body) => {
  const { uid, desiredAPIVersion, objects } = (body as Review).request;
  const convertedObjects = objects.map(({ spec, ...object }) => ({
    ...object,
    apiVersion: desiredAPIVersion,
    spec:
      desiredAPIVersion === 'example.com/v1'
        ? { metres: (spec.millimetres ?? 0) / 1000 }
        : { millimetres: (spec.metres ?? 0) * 1000 },
  }));
  return { response: { uid, result: { status: 'Success' }, convertedObjects } };
};

const v1 = '/apis/example.com/v1/gauges';
const v2 = '/apis/example.com/v2/gauges';
const merge = 'application/merge-patch+json';

for (const { name: doorName, open } of doors) {
  describe(`kinds converted outside, ${doorName}`, () => {
    async function furnished(callWebhook: CallWebhook = convert): Promise<Rig> {
      const rig = await open({ callWebhook });
      await rig.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
      return rig;
    }
    const gauge = (name: string, millimetres: number) => ({
      apiVersion: 'example.com/v2',
      kind: 'Gauge',
      metadata: { name },
      spec: { millimetres },
    });

    test('are stored in one version and shown in each', async () => {
      await using rig = await furnished();
      const made = await rig.call('POST', v2, { body: gauge('a', 3000) });
      assert.equal(made.status, 201);
      assert.deepEqual(made.object.spec, { millimetres: 3000 });
      const [entry] = rig.storage.list('/example.com/').entries;
      assert.deepEqual((entry?.value as ApiObject | undefined)?.spec, { metres: 3 });
      assert.deepEqual((await rig.call('GET', `${v1}/a`)).object.spec, { metres: 3 });
      assert.deepEqual((await rig.call('GET', `${v2}/a`)).object.spec, { millimetres: 3000 });
      const list = await rig.call<ObjectList<ApiObject>>('GET', v2);
      assert.deepEqual(list.object.items[0]?.spec, { millimetres: 3000 });
    });

    test('are patched and watched in the version of the request', async () => {
      await using rig = await furnished();
      await rig.call('POST', v1, {
        body: { ...gauge('a', 0), apiVersion: 'example.com/v1', spec: { metres: 1 } },
      });
      const events = await rig.watch(`${v2}?watch=true`);
      const patched = await rig.call('PATCH', `${v2}/a`, {
        body: { spec: { millimetres: 5000 } },
        contentType: merge,
      });
      assert.deepEqual(patched.object.spec, { millimetres: 5000 });
      assert.equal(patched.object.metadata.generation, 2);
      const seen = await take(events, 2);
      assert.deepEqual(
        seen.map(({ type, object }) => [type, (object as ApiObject).spec]),
        [
          ['ADDED', { millimetres: 1000 }],
          ['MODIFIED', { millimetres: 5000 }],
        ],
      );
    });

    test('patches at once are all there in the end, although each has to wait for its conversion', async () => {
      await using rig = await furnished();
      await rig.call('POST', v2, { body: gauge('a', 1000) });
      const patches = Array.from({ length: 8 }, (_, index) =>
        rig.call('PATCH', `${v2}/a`, {
          body: { metadata: { labels: { [`l${index}`]: 'x' } } },
          contentType: merge,
        }),
      );
      const answers = await Promise.all(patches);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      const { labels = {} } = (await rig.call('GET', `${v2}/a`)).object.metadata;
      assert.equal(Object.keys(labels).length, 8);
    });

    test('are refused as they are when nobody can convert them', async () => {
      await using rig = await furnished(async () => {
        throw new Error('nobody there');
      });
      const { status, object } = await rig.call<Status>('POST', v2, { body: gauge('a', 1) });
      assert.equal(status, 500);
      assert.match(
        object.message ?? '',
        /conversion webhook for example\.com\/v2, Kind=Gauge failed: nobody there/,
      );
      assert.equal(rig.storage.list('/example.com/').entries.length, 0);
    });
  });
}
