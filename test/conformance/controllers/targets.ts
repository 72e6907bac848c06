/** The same client, on two clusters: ours in memory with its home controllers, and the real one with its own. */
import { runTogether, silentLog, systemClock } from '@hutch/base';
import { runHomeControllers } from '@hutch/home-controllers';
import { createKubeClient, type KubeClient, overHttp } from '@hutch/kube-client';
import { events, type Node, nodes, secrets } from '@hutch/kube-meta';
import { openMemoryHome } from '@hutch/testing';
import { openKubeRig } from '../../../rigs/kube/index.ts';

export const nodeName = 'the-node';

export interface ControllerTarget extends AsyncDisposable {
  readonly client: KubeClient;
}

export async function openOurs(): Promise<ControllerTarget> {
  const home = await openMemoryHome();
  const stop = new AbortController();
  const { client, server } = home;
  await makeNode(client);
  const options = {
    client,
    nodeName,
    resources: [secrets, events],
    rootCa: 'PEM',
    clock: systemClock,
    log: silentLog,
  };
  const running = runTogether(stop.signal, [
    (signal) => server.run(signal),
    (signal) => runHomeControllers(options, signal),
  ]);
  return {
    client,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await home[Symbol.asyncDispose]();
    },
  };
}

export async function openReal(signal: AbortSignal): Promise<ControllerTarget> {
  await using opened = new AsyncDisposableStack();
  const { url, ca, adminToken } = opened.use(await openKubeRig({ signal, scheduler: true }));
  const client = createKubeClient(opened.use(overHttp({ url, ca, token: adminToken })));
  await makeNode(client);
  const close = opened.move();
  return { client, [Symbol.asyncDispose]: () => close.disposeAsync() };
}

/** A node that has all it needs to take pods; nobody runs them. */
async function makeNode(client: KubeClient): Promise<void> {
  const labels = { 'kubernetes.io/hostname': nodeName, disk: 'ssd' };
  await client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName, labels } });
  const room = { cpu: '64', memory: '64Gi', pods: '1000' };
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
  const status = { capacity: room, allocatable: room, conditions: [ready] };
  await client.patch(nodes, { name: nodeName }, { status }, { subresource: 'status' });
  // A cluster marks a new node as not ready until somebody who watches nodes says otherwise.
  await client.patch(nodes, { name: nodeName }, { spec: { taints: null } });
}
