import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRole, PolicyRule } from '@hutch/kube-meta';
import { someMeta } from '@hutch/testing';
import { decide } from './decide.ts';

const rule = (resource: string): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });

function role(
  name: string,
  given: Partial<ClusterRole> & { labels?: Record<string, string> } = {},
): ClusterRole {
  const { labels, ...rest } = given;
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: someMeta(name, labels ? { labels } : {}),
    ...rest,
  };
}

const aggregationRule = {
  clusterRoleSelectors: [{ matchLabels: { sum: 'yes' } }, { matchLabels: { too: 'yes' } }],
};

test('a sum has the rules of its parts, by name within each selector, each once', () => {
  const sum = role('sum', { aggregationRule, labels: { sum: 'yes' }, rules: [rule('own')] });
  const parts = [
    role('c', { labels: { too: 'yes' }, rules: [rule('pods'), rule('secrets')] }),
    role('b', { labels: { sum: 'yes' }, rules: [rule('nodes')] }),
    role('a', { labels: { sum: 'yes' }, rules: [rule('pods')] }),
    role('d', { rules: [rule('events')] }),
  ];
  const rules = decide(sum, [sum, ...parts]);
  assert.deepEqual(
    rules?.map(({ resources }) => resources?.[0]),
    ['pods', 'nodes', 'secrets'],
  );
});

test('a sum that is right is left alone, and so is a plain role', () => {
  const part = role('a', { labels: { sum: 'yes' }, rules: [rule('pods')] });
  assert.equal(decide(role('sum', { aggregationRule, rules: [rule('pods')] }), [part]), undefined);
  assert.equal(decide(role('plain'), [part]), undefined);
});

test('a sum without parts has no rules', () => {
  assert.deepEqual(decide(role('sum', { aggregationRule, rules: [rule('pods')] }), []), []);
  assert.equal(decide(role('sum', { aggregationRule, rules: null }), []), undefined);
});
