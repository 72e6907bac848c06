import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anObject } from '@hutch/testing';
import { OwnWrites } from './own-writes.ts';

const at = (resourceVersion: string) => anObject({ metadata: { name: 'a', resourceVersion } });
const key = { namespace: 'default', name: 'a' };

test('our write stands in for the versions it was built on, through a chain of writes', () => {
  const own = new OwnWrites();
  own.record(at('1'), at('2'));
  own.record(at('2'), at('3'));
  for (const cached of ['1', '2']) {
    assert.equal(own.newest(key, at(cached))?.metadata.resourceVersion, '3');
  }
});

test('as soon as the cache shows anything else, the cache is believed again', () => {
  for (const cached of ['3', '7']) {
    const own = new OwnWrites();
    own.record(at('1'), at('3'));
    assert.equal(own.newest(key, at(cached))?.metadata.resourceVersion, cached);
    assert.equal(own.newest(key, at('1'))?.metadata.resourceVersion, '1');
  }
});

test('an object that is gone is gone', () => {
  const own = new OwnWrites();
  own.record(at('1'), at('2'));
  assert.equal(own.newest(key, undefined), undefined);
});

test('a write that changed nothing stands in for nothing', () => {
  const own = new OwnWrites();
  own.record(at('1'), at('1'));
  const cached = at('1');
  assert.equal(own.newest(key, cached), cached);
});
