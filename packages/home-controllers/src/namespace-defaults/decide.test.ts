import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap, ServiceAccount } from '@hutch/kube-meta';
import { aNamespace, someMeta } from '@hutch/testing';
import { decide, type Observed } from './decide.ts';

const account: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: someMeta('default') };
const description = { 'kubernetes.io/description': 'whatever it says' };

function aMap(data: Record<string, string>, annotations?: Record<string, string>): ConfigMap {
  const metadata = someMeta('kube-root-ca.crt', annotations ? { annotations } : {});
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

const sound = { account, rootCaMap: aMap({ 'ca.crt': 'PEM' }, description), rootCa: 'PEM' };
const cases: { name: string; given: Partial<Observed>; want: string[] }[] = [
  {
    name: 'a new namespace is given both',
    given: { account: undefined, rootCaMap: undefined },
    want: ['create-account', 'create-map'],
  },
  { name: 'one that has both is left alone', given: {}, want: [] },
  { name: 'another authority is written over', given: { rootCa: 'NEW' }, want: ['write-map'] },
  {
    name: 'what does not belong there is taken out',
    given: { rootCaMap: aMap({ 'ca.crt': 'PEM', more: 'x' }, description) },
    want: ['write-map'],
  },
  {
    name: 'a lost description is put back',
    given: { rootCaMap: aMap({ 'ca.crt': 'PEM' }) },
    want: ['write-map'],
  },
  {
    name: 'without an authority there is no map',
    given: { rootCa: undefined, rootCaMap: undefined },
    want: [],
  },
  {
    name: 'a namespace on its way out is given nothing',
    given: { namespace: aNamespace({ terminating: true }), account: undefined, rootCaMap: undefined },
    want: [],
  },
];
for (const { name, given, want } of cases) {
  test(name, () => {
    const actions = decide({ namespace: aNamespace(), ...sound, ...given });
    assert.deepEqual(
      actions.map(({ type }) => type),
      want,
    );
  });
}

test('without an authority to check the server by, pods get no token for it', () => {
  const accountFor = (rootCa: string | undefined) =>
    decide({ namespace: aNamespace(), ...sound, rootCa, account: undefined }).find(
      (action) => action.type === 'create-account',
    )?.draft;
  assert.equal(accountFor('PEM')?.automountServiceAccountToken, undefined);
  assert.equal(accountFor(undefined)?.automountServiceAccountToken, false);
});
