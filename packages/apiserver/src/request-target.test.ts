import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusFault } from '@hutch/kube-meta';
import fc from 'fast-check';
import { type RequestTarget, targetOf } from './request-target.ts';

type Method = Parameters<typeof targetOf>[0]['method'];

const core = { type: 'resource', group: '', version: 'v1' } as const;
const custom = { type: 'resource', group: 'example.com', version: 'v1' } as const;

const cases: [Method, string, RequestTarget][] = [
  ['GET', '/api/v1/pods', { ...core, verb: 'list', plural: 'pods' }],
  ['GET', '/api/v1/pods?watch=True', { ...core, verb: 'watch', plural: 'pods' }],
  ['GET', '/api/v1/pods?watch=false', { ...core, verb: 'list', plural: 'pods' }],
  ['GET', '/api/v1/pods?watch', { ...core, verb: 'watch', plural: 'pods' }],
  ['GET', '/api/v1/namespaces', { ...core, verb: 'list', plural: 'namespaces' }],
  ['GET', '/api/v1/namespaces/a', { ...core, verb: 'get', plural: 'namespaces', name: 'a' }],
  [
    'PUT',
    '/api/v1/namespaces/a/finalize',
    { ...core, verb: 'update', plural: 'namespaces', name: 'a', subresource: 'finalize' },
  ],
  ['POST', '/api/v1/namespaces/a/pods', { ...core, verb: 'create', plural: 'pods', namespace: 'a' }],
  [
    'HEAD',
    '/api/v1/namespaces/a/pods/b',
    { ...core, verb: 'get', plural: 'pods', namespace: 'a', name: 'b' },
  ],
  [
    'GET',
    '/api/v1/namespaces/a/pods/b/log',
    { ...core, verb: 'get', plural: 'pods', namespace: 'a', name: 'b', subresource: 'log' },
  ],
  [
    'DELETE',
    '/api/v1/namespaces/a/pods',
    { ...core, verb: 'deletecollection', plural: 'pods', namespace: 'a' },
  ],
  [
    'PATCH',
    '/apis/example.com/v1/namespaces/a/widgets/b/status',
    { ...custom, verb: 'patch', plural: 'widgets', namespace: 'a', name: 'b', subresource: 'status' },
  ],
  [
    'DELETE',
    '/apis/example.com/v1/widgets/b%2Ec',
    { ...custom, verb: 'delete', plural: 'widgets', name: 'b.c' },
  ],
  [
    'DELETE',
    '/apis/example.com/v1/widgets/b%2Fc',
    { ...custom, verb: 'delete', plural: 'widgets', name: 'b', subresource: 'c' },
  ],
  [
    'GET',
    '/api/v1/watch/namespaces/a/pods/b',
    { ...core, verb: 'watch', plural: 'pods', namespace: 'a', name: 'b' },
  ],
  [
    'GET',
    '/api/v1/pods?fieldSelector=metadata.name%3Da',
    { ...core, verb: 'list', plural: 'pods', name: 'a' },
  ],
  ['GET', '/api/v1', { type: 'path', verb: 'get', path: '/api/v1' }],
  ['GET', '/apis/example.com', { type: 'path', verb: 'get', path: '/apis/example.com' }],
  ['POST', '/healthz', { type: 'path', verb: 'post', path: '/healthz' }],
  ['GET', '/', { type: 'path', verb: 'get', path: '/' }],
  ['GET', '/api/v1/pods/a/b/c/d', { type: 'path', verb: 'get', path: '/api/v1/pods/a/b/c/d' }],
];

for (const [method, url, want] of cases) {
  test(`${method} ${url}`, () => {
    const [path = '', query = ''] = url.split('?');
    assert.deepEqual(targetOf({ method, path, query: new URLSearchParams(query) }), want);
  });
}

test('any path is understood or refused as a bad request', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'/apis%2.ax') }), (path) => {
      try {
        targetOf({ method: 'GET', path: `/api/${path}`, query: new URLSearchParams() });
      } catch (err) {
        assert.ok(err instanceof StatusFault && err.status.code === 400);
      }
    }),
  );
});
