/** A home with the real API server for tests of its controllers: the state of the world is what counts. */
import type { TestContext } from 'node:test';
import { runTogether, silentLog, systemClock } from '@hutch/base';
import { createInformer, type Informer } from '@hutch/controller';
import {
  type Draft,
  events,
  type KubeObject,
  namespaces,
  type ObjectKey,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type Resource,
  secrets,
  serviceAccounts,
} from '@hutch/kube-meta';
import { createFakeNode, openMemoryHome } from '@hutch/testing';
import { type HomeControllerOptions, runHomeControllers } from './run.ts';

export const nodeName = 'this-machine';
export const key = (name: string, namespace = 'default') => ({ namespace, name });

const watched = [pods, secrets, namespaces, serviceAccounts, persistentVolumes, persistentVolumeClaims];

/** The controllers are not yet running, so that a case can prepare the world first. Waiting ends with the test. */
export async function openHome({ signal }: TestContext, given: Partial<HomeControllerOptions> = {}) {
  const home = await openMemoryHome();
  const { client } = home;
  const stop = new AbortController();
  const seen = new Map<Resource, Informer<KubeObject>>(
    watched.map((resource) => [resource, createInformer({ client, resource })]),
  );
  const running: Promise<void>[] = [
    runTogether(
      stop.signal,
      [...seen.values()].map((informer) => (signal) => informer.run(signal)),
    ),
  ];
  const until = <T extends KubeObject>(
    resource: Resource,
    of: ObjectKey,
    isWanted: (object: T | undefined) => boolean,
  ) => {
    const informer = seen.get(resource) as unknown as Informer<T>;
    return informer.waitFor(of, isWanted, AbortSignal.any([stop.signal, signal, AbortSignal.timeout(5_000)]));
  };
  return {
    client,
    until,
    untilGone: (resource: Resource, of: ObjectKey) => until(resource, of, (object) => object === undefined),
    /** Pods are refused until their namespace has its account. */
    async createPod(draft: Draft<Pod>): Promise<Pod> {
      const namespace = draft.metadata.namespace ?? '';
      await until(serviceAccounts, { namespace, name: 'default' }, (account) => account !== undefined);
      return await client.create<Pod>(pods, draft);
    },
    start() {
      const deps = { client, clock: systemClock, log: silentLog };
      const options = { ...deps, nodeName, resources: [secrets, events], ...given };
      running.push(runHomeControllers(options, stop.signal));
    },
    startNode() {
      running.push(createFakeNode({ client, nodeName }).run(stop.signal));
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      await home[Symbol.asyncDispose]();
    },
  };
}
