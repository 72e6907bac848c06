import type { Clock, Log } from '@hutch/base';
import { createInformer, type Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { type KubeObject, namespaces, type Pod, pods, type Resource, resourceText } from '@hutch/kube-meta';

import type { HeldNamespace } from './namespaces/namespaces.ts';

/** One local copy per kind, shared by all controllers of the home. */
export interface HomeInformers {
  /** Every kind once, pods and namespaces included. */
  readonly all: readonly Informer<KubeObject>[];
  readonly pods: Informer<Pod>;
  readonly namespaces: Informer<HeldNamespace>;
}

export interface HomeInformerOptions {
  readonly client: KubeClient;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Objects are found by their own uid and by those of their owners. */
const indexes = {
  uid: ({ metadata }: KubeObject) => [metadata.uid],
  owner: ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
};

export function createHomeInformers({ resources, ...deps }: HomeInformerOptions): HomeInformers {
  const podInformer = createInformer<Pod>({ ...deps, resource: pods, indexes });
  const namespaceInformer = createInformer<HeldNamespace>({ ...deps, resource: namespaces, indexes });
  const all = new Map<string, Informer<KubeObject>>([
    [resourceText(pods), podInformer],
    [resourceText(namespaces), namespaceInformer],
  ]);
  for (const resource of resources) {
    const name = resourceText(resource);
    if (!all.has(name)) all.set(name, createInformer({ ...deps, resource, indexes }));
  }
  return { all: [...all.values()], pods: podInformer, namespaces: namespaceInformer };
}
