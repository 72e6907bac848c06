import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff, silentLog } from '@hutch/base';
import { type KubeObject, pods, statusFault } from '@hutch/kube-meta';
import { aPod, FakeClock } from '@hutch/testing';
import { type Followed, follow } from './follow.ts';
import { bookmark, errorEvent, event, ScriptedServer } from './scripted-server.ts';

const pod = (name: string, resourceVersion: string) => aPod({ metadata: { name, resourceVersion } });

function start(server: ScriptedServer, clock = new FakeClock()) {
  const stop = new AbortController();
  const options = { backoff: new Backoff(100, 1000), clock, log: silentLog, signal: stop.signal };
  const changes = follow(server.client, pods, {}, options);
  const next = async (): Promise<string> => {
    const { value, done } = await changes.next();
    return done ? 'end' : textOf(value);
  };
  return { next, stop: () => stop.abort(), clock };
}

function textOf(followed: Followed<KubeObject>): string {
  const objects = followed.type === 'replaced' ? followed.objects : [followed.object];
  return [followed.type, ...objects.map(({ metadata }) => metadata.name)].join(' ');
}

test('it lists, then passes on what changes', async () => {
  const server = new ScriptedServer().thenList('5', pod('a', '3'));
  server.thenWatch(
    event('ADDED', pod('b', '6')),
    event('MODIFIED', pod('a', '7')),
    bookmark('9'),
    event('DELETED', pod('b', '10')),
  );
  const { next, stop } = start(server);
  assert.equal(await next(), 'replaced a');
  assert.equal(await next(), 'added b');
  assert.equal(await next(), 'modified a');
  assert.equal(await next(), 'deleted b');
  stop();
  assert.equal(await next(), 'end');
  assert.deepEqual(server.asked, ['list', 'watch 5']);
});

test('a watch that ended after some progress is resumed at once where it ended', async () => {
  const server = new ScriptedServer().thenList('5');
  server.thenWatch(bookmark('9')).end();
  server.thenWatch(event('ADDED', pod('a', '10'))).end();
  server.thenWatch();
  const { next, stop } = start(server);
  assert.equal(await next(), 'replaced');
  assert.equal(await next(), 'added a');
  const end = next();
  await server.untilAsked(4);
  stop();
  assert.equal(await end, 'end');
  assert.deepEqual(server.asked, ['list', 'watch 5', 'watch 9', 'watch 10']);
});

test('a connection that breaks after some progress is resumed without a list', async () => {
  const server = new ScriptedServer().thenList('5');
  server.thenWatch(event('ADDED', pod('a', '6'))).fail(statusFault('unavailable', 'reset'));
  server.thenWatch(event('ADDED', pod('b', '7')));
  const { next, stop } = start(server);
  assert.equal(await next(), 'replaced');
  assert.equal(await next(), 'added a');
  assert.equal(await next(), 'added b');
  stop();
  assert.deepEqual(server.asked, ['list', 'watch 5', 'watch 6']);
});

test('a lost place in history starts over with a list', async () => {
  const server = new ScriptedServer().thenList('5');
  server.thenWatch(event('ADDED', pod('a', '6')), errorEvent(statusFault('expired', 'too old')));
  server.thenList('90', pod('b', '80'));
  server.thenWatch();
  const { next, stop } = start(server);
  assert.equal(await next(), 'replaced');
  assert.equal(await next(), 'added a');
  assert.equal(await next(), 'replaced b');
  const end = next();
  await server.untilAsked(4);
  stop();
  await end;
  assert.deepEqual(server.asked, ['list', 'watch 5', 'list', 'watch 90']);
});

const passing = ['unavailable', 'timeout', 'tooManyRequests', 'internal', 'notFound'] as const;
for (const kind of passing) {
  test(`a list that fails as ${kind} is asked again, later and later`, async () => {
    const server = new ScriptedServer();
    for (let i = 0; i < 3; i++) server.thenFail(statusFault(kind, 'not now'));
    server.thenList('5', pod('a', '3'));
    const { next, clock } = start(server);
    const first = next();
    for (const [i, waitMs] of [100, 200, 400].entries()) {
      await clock.untilSleeping(1);
      await clock.advance(waitMs - 1);
      assert.equal(server.asked.length, i + 1, 'not before its time');
      await clock.advance(1);
    }
    assert.equal(await first, 'replaced a');
  });
}

test('a server that says when to come back is not asked before', async () => {
  const server = new ScriptedServer();
  server.thenFail(statusFault('tooManyRequests', 'busy', { retryAfterSeconds: 7 })).thenList('5');
  const { next, clock } = start(server);
  const first = next();
  await clock.untilSleeping(1);
  await clock.advance(6_999);
  assert.equal(server.asked.length, 1);
  await clock.advance(1);
  assert.equal(await first, 'replaced');
});

test('watches that end at once without progress are not asked for in a tight loop', async () => {
  const server = new ScriptedServer().thenList('5');
  server.thenWatch().end();
  server.thenWatch(bookmark('5')).end(); // says nothing new
  server.thenWatch(event('ADDED', pod('a', '6')));
  const { next, clock, stop } = start(server);
  assert.equal(await next(), 'replaced');
  const second = next();
  await clock.untilSleeping(1);
  assert.equal(server.asked.length, 2);
  await clock.advance(100);
  assert.equal(server.asked.length, 3);
  await clock.advance(200);
  assert.equal(await second, 'added a');
  stop();
});

test('a quiet watch that ends after a while is resumed at once', async () => {
  const server = new ScriptedServer().thenList('5');
  const quiet = server.thenWatch();
  server.thenWatch(event('ADDED', pod('a', '6')));
  const { next, clock, stop } = start(server);
  assert.equal(await next(), 'replaced');
  const second = next();
  await server.untilAsked(2);
  await clock.advance(540_000);
  quiet.end();
  assert.equal(await second, 'added a');
  stop();
});

for (const kind of ['forbidden', 'unauthorized'] as const) {
  test(`a server that answers ${kind} is not asked again`, async () => {
    const server = new ScriptedServer().thenFail(statusFault(kind, 'you may not'));
    await assert.rejects(start(server).next(), { code: kind });
  });
}

test('aborting while it waits to try again ends it', async () => {
  const server = new ScriptedServer().thenFail(statusFault('unavailable', 'not now'));
  const { next, clock, stop } = start(server);
  const first = next();
  await clock.untilSleeping(1);
  stop();
  assert.equal(await first, 'end');
  assert.equal(clock.sleeping, 0);
});
