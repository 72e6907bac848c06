/** Lists: pages, versions, and the forms objects are shown in. Through both doors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObjectList, Status, StatusCause } from '@hutch/kube-meta';
import { aWidget, doors, furnish, type OpenRig, type Rig, widgets } from './test-rig.ts';

async function furnished(open: OpenRig, options: Parameters<OpenRig>[0] = {}): Promise<Rig> {
  const rig = await open(options);
  await furnish(rig);
  return rig;
}

async function fill(rig: Rig, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const metadata = { name: `w${index}`, labels: { parity: index % 2 === 0 ? 'even' : 'odd' } };
    await rig.call('POST', widgets, { body: aWidget('', { metadata }) });
  }
}

const names = ({ items }: ObjectList) => items.map(({ metadata }) => metadata.name);
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

interface Table {
  readonly kind: string;
  readonly metadata: { readonly continue?: string };
  readonly columnDefinitions: readonly { readonly name: string }[] | null;
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: unknown }[];
}

for (const { name: doorName, open } of doors) {
  describe(`listing ${doorName}`, () => {
    test('pages are together the state of the first one, although writes go on', async () => {
      await using rig = await furnished(open);
      await fill(rig, 5);
      const first = (await rig.call<ObjectList>('GET', `${widgets}?limit=2`)).object;
      assert.deepEqual(names(first), ['w0', 'w1']);
      assert.equal(first.metadata.remainingItemCount, 3);

      await rig.call('DELETE', `${widgets}/w2`);
      await rig.call('POST', widgets, { body: aWidget('w11') });
      await rig.call('PATCH', `${widgets}/w4`, {
        body: { spec: { size: 9 } },
        contentType: 'application/merge-patch+json',
      });
      const rest = (
        await rig.call<ObjectList>('GET', `${widgets}?limit=2&continue=${first.metadata.continue}`)
      ).object;
      assert.deepEqual(names(rest), ['w2', 'w3']);
      assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion);
      const last = (
        await rig.call<ObjectList>('GET', `${widgets}?limit=2&continue=${rest.metadata.continue}`)
      ).object;
      assert.deepEqual(names(last), ['w4']);
      assert.equal((last.items[0] as unknown as { spec: { size: number } }).spec.size, 1);
      assert.equal(last.metadata.continue, '');
      assert.deepEqual(names((await rig.call<ObjectList>('GET', widgets)).object), [
        'w0',
        'w1',
        'w11',
        'w3',
        'w4',
      ]);
    });

    test('a page of a selection is full, and does not say how many remain', async () => {
      await using rig = await furnished(open);
      await fill(rig, 6);
      const path = `${widgets}?labelSelector=parity%3Dodd&limit=2`;
      const first = (await rig.call<ObjectList>('GET', path)).object;
      assert.deepEqual(names(first), ['w1', 'w3']);
      assert.equal(first.metadata.remainingItemCount, undefined);
      const second = (await rig.call<ObjectList>('GET', `${path}&continue=${first.metadata.continue}`))
        .object;
      assert.deepEqual(names(second), ['w5']);
    });

    test('a token too old is 410 with one that goes on in the present state', async () => {
      await using rig = await furnished(open, { store: { historyLimit: 4 } });
      await fill(rig, 3);
      const first = (await rig.call<ObjectList>('GET', `${widgets}?limit=1`)).object;
      await fill(rig, 0);
      for (let count = 0; count < 20; count++) {
        await rig.call('PATCH', `${widgets}/w2`, {
          body: { spec: { size: count + 2 } },
          contentType: 'application/merge-patch+json',
        });
      }
      const { status, object } = await rig.call<Status>(
        'GET',
        `${widgets}?limit=1&continue=${first.metadata.continue}`,
      );
      assert.equal(status, 410);
      assert.equal(object.reason, 'Expired');
      const token = object.metadata.continue as string;
      const next = (await rig.call<ObjectList>('GET', `${widgets}?continue=${token}`)).object;
      assert.deepEqual(names(next), ['w1', 'w2']);
      const exact = `${widgets}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`;
      assert.equal((await rig.call('GET', exact)).status, 410);
    });

    test('a version is the one state that is listed, or the oldest that will do', async () => {
      await using rig = await furnished(open);
      await fill(rig, 1);
      const { revision } = rig.storage;
      await rig.call('POST', widgets, { body: aWidget('later') });
      const at = async (match: string) =>
        names(
          (
            await rig.call<ObjectList>(
              'GET',
              `${widgets}?resourceVersion=${revision}&resourceVersionMatch=${match}`,
            )
          ).object,
        );
      assert.deepEqual(await at('Exact'), ['w0']);
      assert.deepEqual(await at('NotOlderThan'), ['later', 'w0']);
      const future = await rig.call<Status>('GET', `${widgets}?resourceVersion=9999`);
      assert.equal(future.status, 504);
      assert.equal(future.object.details?.retryAfterSeconds, 1);
    });

    const refusals: [string, number, RegExp][] = [
      ['limit=x', 400, /strconv\.ParseInt: parsing "x": invalid syntax/],
      ['continue=%25', 400, /invalid continue token/],
      [
        `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}').toString('base64url')}`,
        400,
        /not valid/,
      ],
      ['resourceVersion=x', 400, /invalid resource version/],
      ['resourceVersionMatch=Exact', 422, /forbidden unless resourceVersion is provided/],
      ['resourceVersion=1&resourceVersionMatch=Some', 422, /Unsupported value: "Some"/],
      ['resourceVersion=0&resourceVersionMatch=Exact', 422, /"exact" is forbidden for resourceVersion "0"/],
      ['sendInitialEvents=true', 422, /sendInitialEvents is forbidden for list/],
      ['watch=true&sendInitialEvents=true', 422, /sendInitialEvents requires setting resourceVersionMatch/],
    ];
    for (const [query, status, message] of refusals) {
      test(`${query.slice(0, 60)} is ${status}`, async () => {
        await using rig = await furnished(open);
        const answer = await rig.call<Status>('GET', `${widgets}?${query}`);
        assert.equal(answer.status, status);
        assert.match(answer.object.message ?? '', message);
      });
    }

    test('a table has the columns of the kind and the metadata of each row', async () => {
      await using rig = await furnished(open);
      await fill(rig, 1);
      const { object } = await rig.call<Table>('GET', widgets, { accept: table });
      assert.equal(object.kind, 'Table');
      assert.deepEqual(
        object.columnDefinitions?.map(({ name }) => name),
        ['Name', 'Age'],
      );
      assert.deepEqual(object.rows[0]?.cells, ['w0', '0s']);
      const shown = object.rows[0]?.object as { kind: string } | undefined;
      assert.equal(shown?.kind, 'PartialObjectMetadata');
      const bare = await rig.call<Table>('GET', `${widgets}?includeObject=None`, { accept: table });
      assert.equal(bare.object.rows[0]?.object, null);
      const odd = await rig.call<Status>('GET', `${widgets}?includeObject=Some`, { accept: table });
      assert.equal(odd.status, 400);
    });

    test('metadata alone is shown where that is asked for, of one and of many', async () => {
      await using rig = await furnished(open);
      await fill(rig, 1);
      const accept = (as: string) => ({ accept: `application/json;as=${as};g=meta.k8s.io;v=v1` });
      const one = await rig.call<Record<string, unknown>>(
        'GET',
        `${widgets}/w0`,
        accept('PartialObjectMetadata'),
      );
      assert.deepEqual(Object.keys(one.object), ['kind', 'apiVersion', 'metadata']);
      const many = await rig.call<ObjectList>('GET', widgets, accept('PartialObjectMetadataList'));
      assert.equal(many.object.kind, 'PartialObjectMetadataList');
      assert.deepEqual(names(many.object), ['w0']);
      assert.equal((await rig.call('GET', widgets, accept('PartialObjectMetadata'))).status, 406);
    });

    test('a watch of tables tells its columns once', async () => {
      await using rig = await furnished(open);
      await fill(rig, 2);
      const events = await rig.watch(`${widgets}?watch=true`, undefined, table);
      const first = (await events.next()).value?.object as unknown as Table;
      const second = (await events.next()).value?.object as unknown as Table;
      assert.equal(first.columnDefinitions?.length, 2);
      assert.equal(second.columnDefinitions, null);
      assert.equal(second.rows[0]?.cells[0], 'w1');
    });
  });

  describe(`deleting a collection ${doorName}`, () => {
    test('deletes what is selected and answers with what that was', async () => {
      await using rig = await furnished(open);
      await fill(rig, 4);
      const held = aWidget('', {
        metadata: { name: 'held', labels: { parity: 'odd' }, finalizers: ['example.com/x'] },
      });
      await rig.call('POST', widgets, { body: held });
      const dry = await rig.call<ObjectList>('DELETE', `${widgets}?labelSelector=parity%3Dodd&dryRun=All`);
      assert.deepEqual(names(dry.object), ['held', 'w1', 'w3']);
      assert.equal(names((await rig.call<ObjectList>('GET', widgets)).object).length, 5);
      const { status, object } = await rig.call<ObjectList>(
        'DELETE',
        `${widgets}?labelSelector=parity%3Dodd`,
      );
      assert.equal(status, 200);
      assert.deepEqual(names(object), ['held', 'w1', 'w3']);
      assert.deepEqual(names((await rig.call<ObjectList>('GET', widgets)).object), ['held', 'w0', 'w2']);
    });
  });

  describe(`field validation ${doorName}`, () => {
    const body = { ...aWidget('a'), spec: { size: 1, color: 'red' } };

    test('refuses unknown fields where that is asked for, and warns of them otherwise', async () => {
      await using rig = await furnished(open);
      const strict = await rig.call<Status>('POST', `${widgets}?fieldValidation=Strict`, { body });
      assert.equal(strict.status, 400);
      assert.match(strict.object.message ?? '', /strict decoding error: unknown field "spec\.color"/);
      const warned = await rig.call('POST', `${widgets}?dryRun=All`, { body });
      assert.equal(warned.status, 201);
      assert.deepEqual(warned.warnings, ['unknown field "spec.color"']);
      const ignored = await rig.call('POST', `${widgets}?fieldValidation=Ignore`, { body });
      assert.deepEqual(ignored.warnings, []);
    });

    test('knows no other way', async () => {
      await using rig = await furnished(open);
      const answer = await rig.call<Status & { details: { causes: StatusCause[] } }>(
        'POST',
        `${widgets}?fieldValidation=Loose`,
        { body },
      );
      assert.equal(answer.status, 422);
      assert.equal(answer.object.details.causes[0]?.field, 'fieldValidation');
    });
  });
}
