import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '@hutch/base';
import { listen } from './listen.ts';

const taken = (port: number) =>
  port === 8080 ? Promise.reject(new Fault('already-exists', 'listen on 8080')) : Promise.resolve(port);

test('a usual port that is taken gives way to a free one', async () => {
  assert.equal(await listen({ number: 8080, isFixed: false }, taken), 0);
  assert.equal(await listen({ number: 6443, isFixed: false }, taken), 6443);
});

test('a port that was asked for and is taken is a failure that names it', async () => {
  await assert.rejects(listen({ number: 8080, isFixed: true }, taken), /port 8080 is taken/);
});

test('any other failure is told as it is', async () => {
  await assert.rejects(
    listen({ number: 1, isFixed: false }, () => Promise.reject(new Error('denied'))),
    /denied/,
  );
});
