/** What a client of the server can rely on: every case runs through both doors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldText, type ObjectList, type Status } from '@hutch/kube-meta';
import {
  aPod,
  aWidget,
  doors,
  furnish,
  type OpenRig,
  pods,
  reader,
  widgetDefinition,
  widgets,
} from './test-rig.ts';

const mergePatch = 'application/merge-patch+json';

async function furnished(open: OpenRig) {
  const rig = await open();
  await furnish(rig);
  return rig;
}

for (const { name: doorName, open } of doors) {
  describe(`creating ${doorName}`, () => {
    test('gives an object its identity and answers 201 with it', async () => {
      await using rig = await furnished(open);
      const { status, object } = await rig.call('POST', widgets, { body: aWidget('a') });
      assert.equal(status, 201);
      const { uid, resourceVersion, ...metadata } = object.metadata;
      assert.deepEqual(metadata, {
        name: 'a',
        namespace: 'default',
        generation: 1,
        creationTimestamp: '2030-01-01T00:00:00Z',
      });
      assert.match(uid, /^[0-9a-f-]{36}$/);
      assert.equal(resourceVersion, String(rig.storage.revision));
      assert.deepEqual((await rig.call('GET', `${widgets}/a`)).object, object);
    });

    test('takes no identity, status or deletion from the client', async () => {
      await using rig = await furnished(open);
      const metadata = {
        name: 'a',
        uid: 'mine',
        generation: 7,
        creationTimestamp: '1999-01-01T00:00:00Z',
        deletionTimestamp: '1999-01-01T00:00:00Z',
        managedFields: [{}],
      };
      const { object } = await rig.call('POST', widgets, {
        body: aWidget('a', { metadata, status: { phase: 'Mine' } }),
      });
      assert.notEqual(object.metadata.uid, 'mine');
      assert.equal(object.metadata.generation, 1);
      assert.equal(object.metadata.deletionTimestamp, undefined);
      assert.equal(object.metadata.managedFields, undefined);
      assert.equal(object.status, undefined);
    });

    test('a name that is taken is refused with 409', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const { status, object } = await rig.call<Status>('POST', widgets, { body: aWidget('a') });
      assert.equal(status, 409);
      assert.equal(object.reason, 'AlreadyExists');
      assert.equal(object.message, 'widgets.example.com "a" already exists');
    });

    test('of many creates of one name at once exactly one succeeds', async () => {
      await using rig = await furnished(open);
      const all = await Promise.all(
        Array.from({ length: 20 }, () => rig.call('POST', widgets, { body: aWidget('a') })),
      );
      assert.equal(all.filter(({ status }) => status === 201).length, 1);
      assert.equal(all.filter(({ status }) => status === 409).length, 19);
    });

    test('generateName makes a name of its own each time', async () => {
      await using rig = await furnished(open);
      const body = { ...aWidget('x'), metadata: { generateName: 'w-' } };
      const names = await Promise.all(
        [1, 2, 3].map(async () => (await rig.call('POST', widgets, { body })).object.metadata.name),
      );
      assert.equal(new Set(names).size, 3);
      for (const name of names) assert.match(name, /^w-[a-z0-9]{5}$/);
    });

    test('a namespace that is not there is told', async () => {
      await using rig = await furnished(open);
      const { status, object } = await rig.call<Status>('POST', '/api/v1/namespaces/nowhere/pods', {
        body: aPod('a'),
      });
      assert.equal(status, 404);
      assert.equal(object.message, 'namespaces "nowhere" not found');
    });

    test('a dry run answers as if, and changes nothing', async () => {
      await using rig = await furnished(open);
      const { status, object } = await rig.call('POST', `${widgets}?dryRun=All`, { body: aWidget('a') });
      assert.equal(status, 201);
      assert.deepEqual(object.spec, { size: 1, mode: 'On' });
      assert.equal((await rig.call('GET', `${widgets}/a`)).status, 404);
    });

    const refusals: { what: string; path?: string; body: unknown; status: number; message: RegExp }[] = [
      {
        what: 'no name',
        body: { ...aWidget('a'), metadata: {} },
        status: 422,
        message:
          /Widget\.example\.com "" is invalid: metadata\.name: Required value: name or generateName is required/,
      },
      {
        what: 'a bad name',
        body: aWidget('A_b'),
        status: 422,
        message: /metadata\.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain/,
      },
      {
        what: 'a bad label',
        body: aWidget('a', { metadata: { name: 'a', labels: { '-x': 'y' } } }),
        status: 422,
        message: /metadata\.labels: Invalid value: "-x": name part must consist/,
      },
      {
        what: 'a label that is no text',
        body: aWidget('a', { metadata: { name: 'a', labels: { x: 1 } } }),
        status: 400,
        message: /cannot unmarshal number .* of type string/,
      },
      {
        what: 'another kind',
        body: { ...aWidget('a'), kind: 'Gadget' },
        status: 422,
        message: /Gadget\.example\.com "a" is invalid: kind: Invalid value: "Gadget": must be Widget/,
      },
      {
        what: 'another version',
        body: { ...aWidget('a'), apiVersion: 'example.com/v2' },
        status: 400,
        message:
          /the API version in the data \(example.com\/v2\) does not match the expected API version \(example.com\/v1\)/,
      },
      {
        what: 'another namespace',
        body: aWidget('a', { metadata: { name: 'a', namespace: 'other' } }),
        status: 400,
        message: /the namespace of the provided object does not match/,
      },
      {
        what: 'a resourceVersion',
        body: aWidget('a', { metadata: { name: 'a', resourceVersion: '5' } }),
        status: 500,
        message: /resourceVersion should not be set on objects to be created/,
      },
      {
        what: 'a missing field',
        body: aWidget('a', { spec: {} }),
        status: 422,
        message: /Widget\.example\.com "a" is invalid: spec\.size: Required value/,
      },
      {
        what: 'a value that is not supported',
        body: aWidget('a', { spec: { size: 1, mode: 'Maybe' } }),
        status: 422,
        message: /spec\.mode: Unsupported value: "Maybe": supported values: "On", "Off"/,
      },
      {
        what: 'several faults',
        body: aWidget('a', { spec: { size: 0, mode: 1 } }),
        status: 422,
        message: /\[spec\.size: Invalid value: 0: .*, spec\.mode: Invalid value: "integer"/,
      },
      {
        what: 'a pod without containers',
        path: pods,
        body: aPod('a', { containers: [] }),
        status: 422,
        message: /Pod "a" is invalid: spec\.containers: Required value/,
      },
      {
        what: 'two containers of one name',
        path: pods,
        body: aPod('a', {
          containers: [
            { name: 'x', image: 'i' },
            { name: 'x', image: 'i' },
          ],
        }),
        status: 422,
        message: /spec\.containers\[1\]\.name: Duplicate value: "x"/,
      },
      { what: 'a list', body: [], status: 400, message: /cannot unmarshal array into Go value/ },
    ];
    for (const { what, path = widgets, body, status, message } of refusals) {
      test(`refuses ${what}`, async () => {
        await using rig = await furnished(open);
        const answer = await rig.call<Status>('POST', path, { body });
        assert.equal(answer.status, status);
        assert.match(answer.object.message ?? '', message);
        assert.equal(answer.object.code, status);
      });
    }
  });

  describe(`reading ${doorName}`, () => {
    test('what is not there is 404 in words that name it', async () => {
      await using rig = await furnished(open);
      const { status, object } = await rig.call<Status>('GET', `${widgets}/a`);
      assert.equal(status, 404);
      assert.deepEqual(object, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'widgets.example.com "a" not found',
        reason: 'NotFound',
        details: { name: 'a', group: 'example.com', kind: 'widgets' },
        code: 404,
      });
    });

    test('a list has what selectors select, of one namespace or of all', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'other' } } });
      await rig.call('POST', '/api/v1/namespaces/other/serviceaccounts', {
        body: { metadata: { name: 'default' } },
      });
      for (const [namespace, name, node] of [
        ['default', 'a', 'n1'],
        ['default', 'b', ''],
        ['other', 'c', 'n1'],
      ]) {
        const body = { ...aPod('x', { nodeName: node }), metadata: { name, labels: { app: name } } };
        await rig.call('POST', `/api/v1/namespaces/${namespace}/pods`, { body });
      }
      const names = async (path: string) => {
        const { object } = await rig.call<ObjectList>('GET', path);
        assert.equal(object.kind, 'PodList');
        assert.equal(object.metadata.resourceVersion, String(rig.storage.revision));
        return object.items.map(({ metadata }) => metadata.name);
      };
      assert.deepEqual(await names(pods), ['a', 'b']);
      assert.deepEqual(await names('/api/v1/pods'), ['a', 'b', 'c']);
      assert.deepEqual(await names('/api/v1/pods?labelSelector=app%20in%20(a,c)'), ['a', 'c']);
      assert.deepEqual(await names('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1'), ['a', 'c']);
      assert.deepEqual(await names('/api/v1/pods?fieldSelector=metadata.name%3Db,status.phase!%3DRunning'), [
        'b',
      ]);
    });

    test('selectors that make no sense are refused', async () => {
      await using rig = await furnished(open);
      const bad = await rig.call<Status>('GET', `${pods}?labelSelector=a%20b`);
      assert.equal(bad.status, 400);
      const unknown = await rig.call<Status>('GET', `${pods}?fieldSelector=spec.color%3Dred`);
      assert.equal(unknown.status, 400);
      assert.match(unknown.object.message ?? '', /field label not supported: spec\.color/);
    });
  });

  describe(`updating ${doorName}`, () => {
    test('a stale resourceVersion is a conflict, the current one is not', async () => {
      await using rig = await furnished(open);
      const { object: first } = await rig.call('POST', widgets, { body: aWidget('a') });
      const { object: second } = await rig.call('PUT', `${widgets}/a`, {
        body: { ...first, spec: { size: 2 } },
      });
      assert.equal(second.metadata.generation, 2);
      assert.ok(Number(second.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
      const stale = await rig.call<Status>('PUT', `${widgets}/a`, { body: { ...first, spec: { size: 3 } } });
      assert.equal(stale.status, 409);
      assert.equal(
        stale.object.message,
        'Operation cannot be fulfilled on widgets.example.com "a": the object has been modified; please apply your changes to the latest version and try again',
      );
    });

    test('an update that changes nothing writes nothing', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', widgets, { body: aWidget('a') });
      const { revision } = rig.storage;
      assert.deepEqual((await rig.call('PUT', `${widgets}/a`, { body: object })).object, object);
      assert.equal(rig.storage.revision, revision);
    });

    test('a custom object must be updated on a version, a built-in one need not', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const { status, object } = await rig.call<Status>('PUT', `${widgets}/a`, { body: aWidget('a') });
      assert.equal(status, 422);
      assert.match(
        object.message ?? '',
        /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
      );

      const secrets = '/api/v1/namespaces/default/secrets';
      await rig.call('POST', secrets, { body: { metadata: { name: 's' }, stringData: { a: 'x' } } });
      const answer = await rig.call<{ data: object }>('PUT', `${secrets}/s`, {
        body: { metadata: { name: 's' }, stringData: { b: 'y' } },
      });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.object.data, { b: 'eQ==' });
    });

    test('generation counts changes of the spec only', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const patch = async (path: string, body: unknown) =>
        (await rig.call('PATCH', path, { body, contentType: mergePatch })).object.metadata.generation;
      assert.equal(await patch(`${widgets}/a`, { metadata: { labels: { a: 'b' } } }), 1);
      assert.equal(await patch(`${widgets}/a/status`, { status: { phase: 'Fine' } }), 1);
      assert.equal(await patch(`${widgets}/a`, { spec: { size: 2 } }), 2);
    });

    test('the status and everything else are written through different doors', async () => {
      await using rig = await furnished(open);
      const { object: made } = await rig.call('POST', widgets, { body: aWidget('a') });
      const body = {
        ...made,
        metadata: { ...made.metadata, labels: { x: 'y' } },
        spec: { size: 9 },
        status: { phase: 'Fine', extra: 1 },
      };
      const { object: byStatus } = await rig.call('PUT', `${widgets}/a/status`, { body });
      assert.deepEqual(byStatus.status, { phase: 'Fine' });
      assert.deepEqual(byStatus.spec, made.spec);
      assert.equal(byStatus.metadata.labels, undefined);
      const { object: bySpec } = await rig.call('PUT', `${widgets}/a`, {
        body: { ...byStatus, spec: { size: 2 }, status: { phase: 'Broken' } },
      });
      assert.deepEqual(bySpec.status, { phase: 'Fine' });
      assert.deepEqual(bySpec.spec, { size: 2, mode: 'On' });
    });

    test('a merge patch merges, removes, and is bound to a version only if it names one', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', widgets, {
        body: aWidget('a', { metadata: { name: 'a', labels: { x: '1', y: '2' } } }),
      });
      const patch = (body: unknown) => rig.call('PATCH', `${widgets}/a`, { body, contentType: mergePatch });
      const merged = await patch({ metadata: { labels: { x: null, z: '3' } } });
      assert.deepEqual(merged.object.metadata.labels, { y: '2', z: '3' });
      const stale = await patch({
        metadata: { resourceVersion: object.metadata.resourceVersion },
        spec: { size: 5 },
      });
      assert.equal(stale.status, 409);
      const { resourceVersion } = merged.object.metadata;
      assert.equal((await patch({ metadata: { resourceVersion }, spec: { size: 5 } })).status, 200);
    });

    test('patches at once are all there in the end', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
      await Promise.all(
        keys.map((key) =>
          rig.call('PATCH', `${widgets}/a`, {
            body: { metadata: { labels: { [key]: 'x' } } },
            contentType: mergePatch,
          }),
        ),
      );
      const { object } = await rig.call('GET', `${widgets}/a`);
      assert.deepEqual(Object.keys(object.metadata.labels ?? {}).sort(), keys.sort());
    });

    test('kinds of patches that are not served yet are told apart from nonsense', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', widgets, { body: aWidget('a') });
      for (const contentType of ['application/strategic-merge-patch+json', 'application/apply-patch+yaml']) {
        const { status, object } = await rig.call<Status>('PATCH', `${widgets}/a`, { body: {}, contentType });
        assert.equal(status, 415);
        assert.equal(object.reason, 'UnsupportedMediaType');
      }
    });

    test('who an object is cannot be changed', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', widgets, { body: aWidget('a') });
      const put = (metadata: object) =>
        rig.call<Status>('PUT', `${widgets}/a`, {
          body: { ...object, metadata: { ...object.metadata, ...metadata } },
        });
      assert.equal((await put({ name: 'b' })).status, 400);
      assert.match(
        (await put({ uid: 'other' })).object.message ?? '',
        /Precondition failed: UID in precondition: other/,
      );
      // When it was made is not a client's to say: it is overheard. That it should go is said in another way.
      const time = await put({ creationTimestamp: '1999-01-01T00:00:00Z' });
      assert.equal(time.status, 200);
      const gone = await put({ deletionTimestamp: '1999-01-01T00:00:00Z' });
      assert.equal(gone.status, 422);
      assert.match(
        gone.object.message ?? '',
        /metadata\.deletionTimestamp: Invalid value: "1999-01-01T00:00:00Z": field is immutable/,
      );
      assert.equal((await rig.call('GET', `${widgets}/a`)).object.metadata.deletionTimestamp, undefined);
    });

    test('a pod may get another image and nothing else', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', pods, { body: aPod('a') });
      const image = {
        containers: [
          { ...(object.spec as { containers: object[] }).containers[0], image: 'example.com/main:2' },
        ],
      };
      assert.equal(
        (await rig.call('PATCH', `${pods}/a`, { body: { spec: image }, contentType: mergePatch })).status,
        200,
      );
      const host = await rig.call<Status>('PATCH', `${pods}/a`, {
        body: { spec: { hostname: 'x' } },
        contentType: mergePatch,
      });
      assert.equal(host.status, 422);
      assert.match(
        host.object.message ?? '',
        /spec: Forbidden: pod updates may not change fields other than/,
      );
    });
  });

  describe(`deleting ${doorName}`, () => {
    test('removes at once what nothing holds, and answers with a Status that names it', async () => {
      await using rig = await furnished(open);
      const { object: made } = await rig.call('POST', widgets, { body: aWidget('a') });
      const { status, object } = await rig.call<Status>('DELETE', `${widgets}/a`);
      assert.equal(status, 200);
      assert.equal(object.status, 'Success');
      assert.deepEqual(object.details, {
        name: 'a',
        group: 'example.com',
        kind: 'widgets',
        uid: made.metadata.uid,
      });
      assert.equal((await rig.call('GET', `${widgets}/a`)).status, 404);
      assert.equal((await rig.call('DELETE', `${widgets}/a`)).status, 404);
    });

    test('an object with finalizers stays, marked, until the last one is removed', async () => {
      await using rig = await furnished(open);
      const body = aWidget('a', {
        metadata: { name: 'a', finalizers: ['example.com/one', 'example.com/two'] },
      });
      await rig.call('POST', widgets, { body });
      const { object: marked } = await rig.call('DELETE', `${widgets}/a`);
      assert.equal(marked.metadata.deletionTimestamp, '2030-01-01T00:00:00Z');
      assert.equal(marked.metadata.deletionGracePeriodSeconds, 0);
      assert.equal(marked.metadata.generation, 2);
      const { object: again } = await rig.call('DELETE', `${widgets}/a`);
      assert.deepEqual(again, marked);

      const patch = (finalizers: string[]) =>
        rig.call<Status>('PATCH', `${widgets}/a`, {
          body: { metadata: { finalizers } },
          contentType: mergePatch,
        });
      const added = await patch(['example.com/one', 'example.com/three']);
      assert.equal(added.status, 422);
      assert.match(
        added.object.message ?? '',
        /no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example.com\/three"\}/,
      );
      assert.equal((await patch(['example.com/one'])).status, 200);
      assert.equal((await rig.call('GET', `${widgets}/a`)).status, 200);
      assert.equal((await patch([])).status, 200);
      assert.equal((await rig.call('GET', `${widgets}/a`)).status, 404);
    });

    test('preconditions guard against deleting a namesake', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', widgets, { body: aWidget('a') });
      const remove = (preconditions: object) =>
        rig.call<Status>('DELETE', `${widgets}/a`, { body: { preconditions } });
      const byUid = await remove({ uid: 'other' });
      assert.equal(byUid.status, 409);
      assert.match(
        byUid.object.message ?? '',
        /the UID in the precondition \(other\) does not match the UID in record/,
      );
      assert.equal((await remove({ resourceVersion: '1' })).status, 409);
      const { uid, resourceVersion } = object.metadata;
      assert.equal((await remove({ uid, resourceVersion })).status, 200);
    });

    test('foreground and orphan leave their finalizer for the garbage collector', async () => {
      await using rig = await furnished(open);
      for (const [policy, finalizer] of [
        ['Foreground', 'foregroundDeletion'],
        ['Orphan', 'orphan'],
      ]) {
        await rig.call('POST', widgets, { body: aWidget('a') });
        const { object } = await rig.call('DELETE', `${widgets}/a?propagationPolicy=${policy}`);
        assert.deepEqual(object.metadata.finalizers, [finalizer]);
        assert.ok(object.metadata.deletionTimestamp);
        await rig.call('PATCH', `${widgets}/a`, {
          body: { metadata: { finalizers: null } },
          contentType: mergePatch,
        });
      }
      await rig.call('POST', widgets, { body: aWidget('a') });
      const { object } = await rig.call<Status>('DELETE', `${widgets}/a`, {
        body: { propagationPolicy: 'Background' },
      });
      assert.equal(object.status, 'Success');
      assert.equal((await rig.call('DELETE', `${widgets}/a?propagationPolicy=Later`)).status, 422);
    });

    test('a pod on a node is given its grace, which can only be shortened', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', pods, {
        body: aPod('a', { nodeName: 'n1', terminationGracePeriodSeconds: 20 }),
      });
      const { object: marked } = await rig.call('DELETE', `${pods}/a`);
      assert.equal(marked.metadata.deletionTimestamp, '2030-01-01T00:00:20Z');
      assert.equal(marked.metadata.deletionGracePeriodSeconds, 20);
      const { object: longer } = await rig.call('DELETE', `${pods}/a?gracePeriodSeconds=60`);
      assert.deepEqual(longer, marked);
      const { object: shorter } = await rig.call('DELETE', `${pods}/a`, { body: { gracePeriodSeconds: 5 } });
      assert.equal(shorter.metadata.deletionTimestamp, '2030-01-01T00:00:05Z');
      assert.equal((await rig.call('DELETE', `${pods}/a?gracePeriodSeconds=0`)).status, 200);
      assert.equal((await rig.call('GET', `${pods}/a`)).status, 404);
    });

    test('a pod that no node has, or that has ended, goes at once', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', pods, { body: aPod('a') });
      const { object } = await rig.call('DELETE', `${pods}/a`);
      assert.equal(object.kind, 'Pod');
      await rig.call('POST', pods, { body: aPod('b', { nodeName: 'n1' }) });
      await rig.call('PATCH', `${pods}/b/status`, {
        body: { status: { phase: 'Succeeded' } },
        contentType: mergePatch,
      });
      await rig.call('DELETE', `${pods}/b`);
      for (const name of ['a', 'b']) assert.equal((await rig.call('GET', `${pods}/${name}`)).status, 404);
    });

    test('a pod with a finalizer outlives the end of its grace', async () => {
      await using rig = await furnished(open);
      const body = aPod('a', { nodeName: 'n1' });
      await rig.call('POST', pods, {
        body: { ...body, metadata: { name: 'a', finalizers: ['example.com/one'] } },
      });
      await rig.call('DELETE', `${pods}/a`);
      const { object } = await rig.call('DELETE', `${pods}/a?gracePeriodSeconds=0`);
      assert.equal(object.metadata.deletionGracePeriodSeconds, 0);
      await rig.call('PATCH', `${pods}/a`, {
        body: { metadata: { finalizers: null } },
        contentType: mergePatch,
      });
      assert.equal((await rig.call('GET', `${pods}/a`)).status, 404);
    });

    test('a namespace is terminating until it is finalized, and takes nothing in meanwhile', async () => {
      await using rig = await furnished(open);
      const { object: made } = await rig.call('POST', '/api/v1/namespaces', {
        body: { metadata: { name: 'temp' } },
      });
      assert.deepEqual(made.spec, { finalizers: ['kubernetes'] });
      assert.deepEqual(made.metadata.labels, { 'kubernetes.io/metadata.name': 'temp' });
      const { object: marked } = await rig.call('DELETE', '/api/v1/namespaces/temp');
      assert.deepEqual(marked.status, { phase: 'Terminating' });
      const refused = await rig.call<Status>('POST', '/api/v1/namespaces/temp/pods', { body: aPod('a') });
      assert.equal(refused.status, 403);
      assert.match(
        refused.object.message ?? '',
        /pods "a" is forbidden: unable to create new content in namespace temp because it is being terminated/,
      );
      await rig.call('PUT', '/api/v1/namespaces/temp/finalize', {
        body: { metadata: { name: 'temp' }, spec: { finalizers: [] } },
      });
      assert.equal((await rig.call('GET', '/api/v1/namespaces/temp')).status, 404);
      const { status } = await rig.call('DELETE', '/api/v1/namespaces/default');
      assert.equal(status, 403);
    });
  });

  describe(`pods ${doorName}`, () => {
    test('are bound to a node once', async () => {
      await using rig = await furnished(open);
      await rig.call('POST', pods, { body: aPod('a') });
      const bind = (node: string) =>
        rig.call<Status>('POST', `${pods}/a/binding`, {
          body: {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name: 'a' },
            target: { kind: 'Node', name: node },
          },
        });
      assert.equal((await bind('n1')).status, 201);
      const { object } = await rig.call('GET', `${pods}/a`);
      assert.equal((object.spec as { nodeName: string }).nodeName, 'n1');
      assert.deepEqual(
        (object.status as { conditions: { type: string }[] }).conditions.map(({ type }) => type),
        ['PodScheduled'],
      );
      const again = await bind('n2');
      assert.equal(again.status, 409);
      assert.match(again.object.message ?? '', /pod a is already assigned to node "n1"/);
    });

    test('get the defaults Kubernetes gives them, and a first status', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', pods, {
        body: aPod('a', {
          containers: [{ name: 'c', image: 'busybox', readinessProbe: { httpGet: { port: 80 } } }],
        }),
      });
      assert.deepEqual(object.status, { phase: 'Pending', qosClass: 'BestEffort' });
      const spec = object.spec as {
        restartPolicy: string;
        containers: { imagePullPolicy: string; readinessProbe: object }[];
      };
      assert.equal(spec.restartPolicy, 'Always');
      assert.equal(spec.containers[0]?.imagePullPolicy, 'Always');
      assert.deepEqual(spec.containers[0]?.readinessProbe, {
        httpGet: { port: 80, path: '/', scheme: 'HTTP' },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      });
    });

    test('show their log through the node', async () => {
      const asked: unknown[] = [];
      await using rig = await open({
        nodeStreams: {
          async *logs(pod, options) {
            asked.push({ pod: pod.metadata.name, ...options });
            yield Buffer.from('one\n');
            yield Buffer.from('two\n');
          },
        },
      });
      await furnish(rig);
      await rig.call('POST', pods, { body: aPod('a', { nodeName: 'n1' }) });
      const { object } = await rig.call<string>('GET', `${pods}/a/log?follow=True&tailLines=2`);
      assert.equal(object, 'one\ntwo\n');
      assert.deepEqual(asked, [
        { pod: 'a', container: 'main', follow: true, tailLines: 2, previous: false, timestamps: false },
      ]);
      const { status, object: refusal } = await rig.call<Status>('GET', `${pods}/a/log?container=other`);
      assert.equal(status, 400);
      assert.equal(refusal.message, 'container other is not valid for pod a');
    });
  });

  describe(`custom kinds ${doorName}`, () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

    test('are served from the moment their definition is stored, and no longer than it', async () => {
      await using rig = await open();
      await rig.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'default' } } });
      assert.equal((await rig.call('GET', widgets)).status, 404);
      assert.equal((await rig.call('POST', definitions, { body: widgetDefinition })).status, 201);
      const { object } = await rig.call('GET', `${definitions}/widgets.example.com`);
      const { conditions, storedVersions } = object.status as Record<string, unknown>;
      assert.deepEqual(
        (conditions as { type: string; status: string }[]).map(({ type, status }) => [type, status]),
        [
          ['NamesAccepted', 'True'],
          ['Established', 'True'],
        ],
      );
      assert.deepEqual(storedVersions, ['v1']);
      assert.equal((await rig.call('POST', widgets, { body: aWidget('a') })).status, 201);
      assert.equal((await rig.call('DELETE', `${definitions}/widgets.example.com`)).status, 200);
      assert.equal((await rig.call('GET', widgets)).status, 404);
      assert.deepEqual(rig.storage.list('/example.com/').entries, []);
    });

    test('are pruned and defaulted by their schema', async () => {
      await using rig = await furnished(open);
      const { object } = await rig.call('POST', widgets, {
        body: aWidget('a', { spec: { size: 1, color: 'red' }, extra: true }),
      });
      assert.deepEqual(object.spec, { size: 1, mode: 'On' });
      assert.equal('extra' in object, false);
    });

    test('are shown in the version that is asked for, and stored in one', async () => {
      const [version] = widgetDefinition.spec.versions;
      const versions = [version, { ...version, name: 'v2', storage: false }];
      await using rig = await open({
        convert: (object, apiVersion) => ({
          ...object,
          apiVersion,
          metadata: { ...object.metadata, annotations: { shown: apiVersion } },
        }),
      });
      await rig.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'default' } } });
      await rig.call('POST', definitions, {
        body: { ...widgetDefinition, spec: { ...widgetDefinition.spec, versions } },
      });
      const v2 = widgets.replace('/v1/', '/v2/');
      const made = await rig.call('POST', v2, { body: { ...aWidget('a'), apiVersion: 'example.com/v2' } });
      assert.equal(made.status, 201);
      assert.equal(made.object.apiVersion, 'example.com/v2');
      const [entry] = rig.storage.list('/example.com/').entries;
      assert.equal(fieldText(entry?.value, 'apiVersion'), 'example.com/v1');
      const { object } = await rig.call('GET', `${v2}/a`);
      assert.deepEqual(object.metadata.annotations, { shown: 'example.com/v2' });
      const { object: asV1 } = await rig.call('GET', `${widgets}/a`);
      assert.equal(asV1.apiVersion, 'example.com/v1');
    });

    const refusals: {
      what: string;
      change: (spec: typeof widgetDefinition.spec) => object;
      message: RegExp;
    }[] = [
      {
        what: 'a name that is not the plural and the group',
        change: (spec) => ({ ...spec, group: 'other.com' }),
        message: /must be spec\.names\.plural\+"\."\+spec\.group/,
      },
      {
        what: 'no storage version',
        change: (spec) => ({ ...spec, versions: [{ ...spec.versions[0], storage: false }] }),
        message: /must have exactly one version marked as storage version/,
      },
      {
        what: 'no schema',
        change: (spec) => ({ ...spec, versions: [{ name: 'v1', served: true, storage: true }] }),
        message: /openAPIV3Schema: Required value/,
      },
      {
        what: 'no scope',
        change: (spec) => ({ ...spec, scope: undefined }),
        message: /spec\.scope: Required value/,
      },
      {
        what: 'a pattern that is none',
        change: (spec) => ({
          ...spec,
          versions: [
            {
              ...spec.versions[0],
              schema: {
                openAPIV3Schema: { type: 'object', properties: { x: { type: 'string', pattern: '(' } } },
              },
            },
          ],
        }),
        message: /must be a valid regular expression/,
      },
      { what: 'no spec at all', change: () => ({}), message: /spec\.group: Required value/ },
    ];
    for (const { what, change, message } of refusals) {
      test(`a definition with ${what} is refused`, async () => {
        await using rig = await open();
        const body = { ...widgetDefinition, spec: change(widgetDefinition.spec) };
        const { status, object } = await rig.call<Status>('POST', definitions, { body });
        assert.equal(status, 422);
        assert.match(object.message ?? '', message);
      });
    }
  });

  describe(`access ${doorName}`, () => {
    test('what no rule allows is forbidden, in words that name it', async () => {
      await using rig = await furnished(open);
      assert.equal((await rig.call('GET', pods, { user: reader })).status, 200);
      const named = await rig.call<Status>('GET', '/api/v1/namespaces/default/secrets/s', { user: reader });
      assert.equal(named.status, 403);
      assert.equal(
        named.object.message,
        'secrets "s" is forbidden: User "reader" cannot get resource "secrets" in API group "" in the namespace "default"',
      );
      const cluster = await rig.call<Status>('POST', '/api/v1/namespaces', { user: reader, body: {} });
      assert.equal(
        cluster.object.message,
        'namespaces is forbidden: User "reader" cannot create resource "namespaces" in API group "" at the cluster scope',
      );
      const path = await rig.call<Status>('GET', '/metrics', { user: reader });
      assert.equal(path.object.message, 'forbidden: User "reader" cannot get path "/metrics"');
    });

    test('reviews answer for tokens, for others and for oneself', async () => {
      await using rig = await furnished(open);
      const ask = async (group: string, kind: string, spec: object, user?: typeof reader) => {
        const path = `/apis/${group}/v1/${kind.toLowerCase()}s`;
        const body = { apiVersion: `${group}/v1`, kind, spec };
        const answer = await rig.call<{ status: object }>('POST', path, { body, ...(user ? { user } : {}) });
        assert.equal(answer.status, 201, JSON.stringify(answer.object));
        return answer.object.status;
      };
      const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
      assert.deepEqual(await ask('authentication.k8s.io', 'TokenReview', { token: 'token-of-reader' }), {
        authenticated: true,
        user: { username: 'reader', groups: [] },
      });
      assert.deepEqual(await ask('authentication.k8s.io', 'TokenReview', { token: 'wrong' }), {
        user: {},
        error: 'invalid bearer token',
      });
      assert.deepEqual(
        await ask('authorization.k8s.io', 'SubjectAccessReview', { user: 'reader', resourceAttributes }),
        { allowed: true },
      );
      assert.deepEqual(
        await ask('authorization.k8s.io', 'SubjectAccessReview', { user: 'other', resourceAttributes }),
        { allowed: false },
      );
      assert.deepEqual(
        await ask(
          'authorization.k8s.io',
          'SelfSubjectAccessReview',
          { resourceAttributes: { ...resourceAttributes, verb: 'delete' } },
          reader,
        ),
        { allowed: false },
      );
      assert.deepEqual(
        await ask(
          'authorization.k8s.io',
          'SelfSubjectAccessReview',
          { nonResourceAttributes: { verb: 'get', path: '/healthz' } },
          reader,
        ),
        { allowed: true },
      );
    });
  });

  describe(`paths ${doorName}`, () => {
    test('health, version and discovery are what kubectl asks for', async () => {
      await using rig = await furnished(open);
      for (const path of ['/healthz', '/livez', '/readyz'])
        assert.equal((await rig.call<string>('GET', path)).object, 'ok');
      assert.equal((await rig.call<{ minor: string }>('GET', '/version')).object.minor, '36');
      assert.deepEqual((await rig.call<{ versions: string[] }>('GET', '/api')).object.versions, ['v1']);
      const groups = (await rig.call<{ groups: { name: string }[] }>('GET', '/apis')).object.groups.map(
        ({ name }) => name,
      );
      assert.ok(groups.includes('example.com') && groups.includes('apiextensions.k8s.io'));
      const { object } = await rig.call<{
        resources: { name: string; namespaced: boolean; shortNames?: string[] }[];
      }>('GET', '/apis/example.com/v1');
      assert.deepEqual(
        object.resources.map(({ name }) => name),
        ['widgets', 'widgets/status'],
      );
      assert.deepEqual(object.resources[0]?.shortNames, ['wd']);
      const { object: core } = await rig.call<{ resources: { name: string }[] }>('GET', '/api/v1');
      assert.ok(core.resources.some(({ name }) => name === 'pods/log'));
      assert.equal((await rig.call<{ name: string }>('GET', '/apis/example.com')).object.name, 'example.com');
    });

    const answers: [string, 'GET' | 'POST' | 'PUT' | 'DELETE', number][] = [
      ['/api/v1/nothings', 'GET', 404],
      ['/apis/com/v1/namespaces/default/widgets.example', 'GET', 404],
      ['/api/v1/namespaces/default/pods/a', 'POST', 405],
      ['/apis/example.com/v9/widgets', 'GET', 404],
      ['/apis/nowhere.com/v1', 'GET', 404],
      ['/api/v1/namespaces/default/namespaces/x', 'GET', 404],
      ['/api/v1/namespaces/default/pods/a/nothing', 'GET', 404],
      ['/api/v1/pods', 'POST', 405],
      ['/api/v1/namespaces', 'DELETE', 405],
      ['/api/v1/namespaces/default/pods', 'PUT', 405],
      ['/apis/authentication.k8s.io/v1/tokenreviews', 'GET', 405],
      ['/api/v1/namespaces/%zz', 'GET', 400],
    ];
    for (const [path, method, status] of answers) {
      test(`${method} ${path} is ${status}`, async () => {
        await using rig = await furnished(open);
        const answer = await rig.call<Status>(method, path, method === 'GET' ? {} : { body: {} });
        assert.equal(answer.status, status);
        // Where no kind of Kubernetes' own is near, its servers answer in plain text.
        if (typeof answer.object === 'string') assert.equal(answer.object, '404 page not found\n');
        else assert.equal(answer.object.kind, 'Status');
      });
    }
  });
}
