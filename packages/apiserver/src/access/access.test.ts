import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { User } from '@hutch/kube-meta';
import { anonymous, bearerTokens } from './authentication.ts';
import { type ResourceAttributes, type Rule, rulesAuthorizer } from './authorization.ts';

const user: User = { name: 'ann', groups: ['crew'] };

function asking(about: Partial<ResourceAttributes>): ResourceAttributes {
  return { type: 'resource', user, verb: 'get', group: '', resource: 'pods', ...about };
}

describe('rules', () => {
  const cases: { rule: Rule; ask: Partial<ResourceAttributes>; want: boolean }[] = [
    { rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ask: {}, want: true },
    { rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ask: { verb: 'list' }, want: false },
    { rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, ask: { group: 'apps' }, want: false },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      ask: { subresource: 'log' },
      want: false,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
      ask: { subresource: 'log' },
      want: true,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['*/log'] },
      ask: { subresource: 'log' },
      want: true,
    },
    { rule: { verbs: ['get'], apiGroups: [''], resources: ['*/log'] }, ask: {}, want: false },
    {
      rule: { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      ask: { verb: 'x', group: 'y', subresource: 'z' },
      want: true,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      ask: { name: 'a' },
      want: true,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      ask: { name: 'b' },
      want: false,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      ask: {},
      want: false,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'] },
      ask: { namespace: 'n' },
      want: true,
    },
    {
      rule: { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'] },
      ask: {},
      want: false,
    },
    { rule: { verbs: ['get'] }, ask: {}, want: false },
  ];
  for (const { rule, ask, want } of cases) {
    test(`${JSON.stringify(rule)} ${want ? 'allows' : 'does not allow'} ${JSON.stringify(ask)}`, () => {
      assert.equal(rulesAuthorizer({ users: { ann: [rule] } })(asking(ask)).isAllowed, want);
      assert.equal(rulesAuthorizer({ groups: { crew: [rule] } })(asking(ask)).isAllowed, want);
      assert.equal(rulesAuthorizer({ users: { bob: [rule] } })(asking(ask)).isAllowed, false);
    });
  }

  test('masters may everything, nobody else may anything by default', () => {
    const authorize = rulesAuthorizer({});
    const master: User = { name: 'm', groups: ['system:masters'] };
    assert.ok(authorize(asking({ user: master, verb: 'delete' })).isAllowed);
    assert.ok(authorize({ type: 'path', user: master, verb: 'post', path: '/anything' }).isAllowed);
    for (const name of ['ann', 'constructor', '__proto__']) {
      assert.equal(authorize(asking({ user: { name, groups: ['toString'] } })).isAllowed, false);
    }
  });

  test('discovery is for everybody who is somebody, health for all', () => {
    const authorize = rulesAuthorizer({});
    const may = (who: User, path: string) =>
      authorize({ type: 'path', user: who, verb: 'get', path }).isAllowed;
    assert.deepEqual([may(user, '/apis/x/v1'), may(anonymous, '/apis/x/v1')], [true, false]);
    assert.deepEqual([may(user, '/livez'), may(anonymous, '/livez')], [true, true]);
  });
});

test('a bearer token is its user, whatever the case of the word before it', () => {
  const authenticate = bearerTokens([
    { token: 'one', user },
    { token: 'two', user: anonymous },
  ]);
  assert.equal(authenticate({ authorization: 'bearer one' }), user);
  assert.equal(authenticate({ authorization: 'Bearer two' }), anonymous);
  for (const authorization of ['Bearer on', 'Bearer one two', 'one', '', undefined]) {
    assert.equal(authenticate({ authorization }), undefined);
  }
});
