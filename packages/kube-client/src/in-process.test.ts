import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '@hutch/kube-meta';
import { inProcess } from './in-process.ts';
import { describeTransportContract } from './transport-contract.ts';
import { createKubeClient } from './verbs.ts';

const user = { name: 'system:tester', groups: ['system:testers'] };

describeTransportContract('in process', async (handle) => ({
  transport: inProcess(handle, user),
  [Symbol.asyncDispose]: async () => {},
}));

test('objects are handed over, not copied, and the caller is named', async () => {
  const pod = Object.freeze({ apiVersion: 'v1', kind: 'Pod', metadata: {} }) as never;
  const client = createKubeClient(
    inProcess(async (request) => {
      assert.deepEqual(request.user, user);
      return { type: 'object', status: 200, object: pod };
    }, user),
  );
  assert.equal(await client.get(pods, { namespace: 'ns', name: 'a' }), pod);
});
