/**
 * A node that runs nothing: pods bound to it are Running and Ready at once, and pods that are to go are
 * gone at once. For tests of everything above the node; it speaks to the API as a real one does.
 */
import { type Clock, ignoring, type Log, runTogether, silentLog, systemClock } from '@hutch/base';
import { createInformer, type Reconcile, runController, WorkQueue } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { isTerminating, keyOf, type Pod, type PodStatus, pods } from '@hutch/kube-meta';

export interface FakeNodeOptions {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock?: Clock;
  readonly log?: Log;
}

export interface FakeNode {
  run(signal: AbortSignal): Promise<void>;
}

export function createFakeNode(options: FakeNodeOptions): FakeNode {
  const { client, nodeName, clock = systemClock, log = silentLog } = options;
  const known = createInformer<Pod>({ client, resource: pods, clock, log });
  const queue = new WorkQueue({ clock });
  known.onChange(({ type, object }) => {
    if (type !== 'deleted' && object.spec.nodeName === nodeName) queue.add(keyOf(object));
  });
  let started = 0;

  const reconcile: Reconcile = async (key, { signal }) => {
    const pod = known.get(key);
    if (!pod || pod.spec.nodeName !== nodeName) return {};
    if (isTerminating(pod)) {
      const options = { uid: pod.metadata.uid, gracePeriodSeconds: 0, signal };
      await ignoring('not-found', ignoring('conflict', client.delete(pods, key, options)));
    } else if (pod.status?.phase === undefined || pod.status.phase === 'Pending') {
      const status = runningStatus(pod, clock.now(), started++);
      await ignoring('not-found', client.patch(pods, key, { status }, { subresource: 'status', signal }));
    }
    return {};
  };

  return {
    run: (signal) =>
      runTogether(signal, [
        (shared) => runController({ name: 'fake-node', queue, workers: 4, reconcile, log, clock }, shared),
        (shared) => known.run(shared),
      ]),
  };
}

function runningStatus({ spec }: Pod, now: Date, number: number): PodStatus {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const types = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
  const podIP = `10.200.${(number >> 8) & 0xff}.${number & 0xff}`;
  return {
    phase: 'Running',
    startTime: time,
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: time })),
    containerStatuses: spec.containers.map(({ name, image }) => ({
      name,
      image: image ?? '',
      imageID: '',
      ready: true,
      restartCount: 0,
      started: true,
      state: { running: { startedAt: time } },
    })),
  };
}
