import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeconfigText, tokenFile } from './credentials.ts';

test('the token file has a quoted line for each user', () => {
  const users = [
    { token: 't1', name: 'admin', groups: ['system:masters', 'others'] },
    { token: 't2', name: 'a "b"' },
  ];
  assert.equal(
    tokenFile(users),
    '"t1","admin","admin","system:masters,others"\n"t2","a ""b""","a ""b""",""\n',
  );
});

test('the kubeconfig needs no other file', () => {
  const text = kubeconfigText({ url: 'https://127.0.0.1:1', ca: 'PEM', token: 'secret' });
  const { clusters, users } = JSON.parse(text) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  assert.deepEqual(clusters[0]?.cluster, {
    server: 'https://127.0.0.1:1',
    'certificate-authority-data': Buffer.from('PEM').toString('base64'),
  });
  assert.deepEqual(users[0]?.user, { token: 'secret' });
});
