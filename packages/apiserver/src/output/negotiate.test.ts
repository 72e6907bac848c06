import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusFault } from '@hutch/kube-meta';
import { aggregatedDiscoveryVersion, negotiateOutput } from './negotiate.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('what a client is given when it accepts', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'object'],
    ['', 'object'],
    ['*/*', 'object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'object'],
    [`${table},application/json`, 'Table'],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'object'],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1', 'PartialObjectMetadata'],
    [`application/json;q=0.5, ${table};q=0.9`, 'Table'],
    ['application/json;stream=watch', 'object'],
    ['application/json; charset=utf-8', 'object'],
  ];
  for (const [accept, want] of cases) {
    test(`${accept}: ${want}`, () => assert.equal(negotiateOutput(accept).shape, want));
  }

  test('application/*: an object of a custom kind, nothing of others', () => {
    assert.equal(negotiateOutput('application/*', { isCustom: true }).shape, 'object');
    assert.throws(() => negotiateOutput('application/*'));
  });

  for (const accept of [
    'text/html',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Other;v=v1;g=meta.k8s.io',
  ]) {
    test(`${accept}: nothing`, () =>
      assert.throws(
        () => negotiateOutput(accept),
        (err) => err instanceof StatusFault && err.status.code === 406,
      ));
  }
});

test('discovery is aggregated for those who know it', () => {
  const known = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  assert.equal(aggregatedDiscoveryVersion(known), 'apidiscovery.k8s.io/v2');
  assert.equal(aggregatedDiscoveryVersion('application/json'), undefined);
  assert.equal(
    aggregatedDiscoveryVersion('application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList'),
    undefined,
  );
});
