/** A stand-in for the API in this package's tests: pods and events in memory, just enough of the verbs. */
import { randomUUID } from 'node:crypto';
import { Channel } from '@hutch/base';
import type {
  ClientWatchEvent,
  DeleteOptions,
  KubeClient,
  PatchOptions,
  ScopeOptions,
} from '@hutch/kube-client';
import {
  conflict,
  type Draft,
  type KubeObject,
  keyOf,
  keyText,
  notFound,
  type ObjectKey,
  type ObjectList,
  type Pod,
  type PodSpec,
  pods,
  type Resource,
} from '@hutch/kube-meta';

export class FakeApi implements KubeClient {
  readonly recorded: KubeObject[] = [];
  readonly #pods = new Map<string, Pod>();
  readonly #watchers = new Set<Channel<ClientWatchEvent<Pod>>>();
  #revision = 1;

  /** Makes a pod bound to `node`, as a scheduler would have. */
  addPod(name: string, spec: PodSpec): Pod {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'default',
        uid: randomUUID(),
        resourceVersion: '',
        creationTimestamp: new Date().toISOString(),
      },
      spec: { nodeName: 'node', ...spec },
    };
    return this.#store('ADDED', pod);
  }

  pod(name: string): Pod | undefined {
    return this.#pods.get(`default/${name}`);
  }

  /** Resolves with the first state of the pod that satisfies `isWanted`; undefined stands for a deleted pod. */
  async until(name: string, isWanted: (pod: Pod | undefined) => boolean): Promise<Pod | undefined> {
    const changes = this.#watch();
    const limit = setTimeout(
      () => changes.fail(new Error(`pod ${name} never came to that: ${this.#text(name)}`)),
      20_000,
    );
    try {
      if (isWanted(this.pod(name))) return this.pod(name);
      for await (const _ of changes) if (isWanted(this.pod(name))) return this.pod(name);
      throw new Error('watch ended');
    } finally {
      clearTimeout(limit);
    }
  }

  #text(name: string): string {
    return JSON.stringify(this.pod(name)?.status ?? null);
  }

  #store(type: 'ADDED' | 'MODIFIED', pod: Pod): Pod {
    const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++this.#revision) } };
    this.#pods.set(keyText(keyOf(pod)), stored);
    for (const watcher of this.#watchers) watcher.push({ type, object: stored });
    return stored;
  }

  #watch(): Channel<ClientWatchEvent<Pod>> {
    const channel = new Channel<ClientWatchEvent<Pod>>(10_000, () => this.#watchers.delete(channel));
    this.#watchers.add(channel);
    return channel;
  }

  #get(key: ObjectKey, uid?: string): Pod {
    const pod = this.#pods.get(keyText(key));
    if (!pod) throw notFound(pods, key.name);
    if (uid !== undefined && pod.metadata.uid !== uid) throw conflict(pods, key.name, 'uid differs');
    return pod;
  }

  async get<T extends KubeObject>(_: Resource, key: ObjectKey): Promise<T> {
    return this.#get(key) as KubeObject as T;
  }

  async list<T extends KubeObject>(): Promise<ObjectList<T>> {
    const items = [...this.#pods.values()] as KubeObject[] as T[];
    return {
      apiVersion: 'v1',
      kind: 'PodList',
      metadata: { resourceVersion: String(this.#revision) },
      items,
    };
  }

  async *watch<T extends KubeObject>(
    _: Resource,
    { signal }: ScopeOptions,
  ): AsyncGenerator<ClientWatchEvent<T>> {
    const channel = this.#watch();
    signal?.addEventListener('abort', () => channel.end(), { once: true });
    yield* channel as AsyncIterable<ClientWatchEvent<KubeObject>> as AsyncIterable<ClientWatchEvent<T>>;
  }

  async create<T extends KubeObject>(_: Resource, draft: Draft<T>): Promise<T> {
    this.recorded.push(draft as unknown as KubeObject);
    return draft as unknown as T;
  }

  update<T extends KubeObject>(): Promise<T> {
    throw new Error('the node never updates');
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    patch: unknown,
    options?: PatchOptions,
  ): Promise<T> {
    if (resource.plural !== 'pods') return patch as T;
    if (options?.subresource !== 'status') throw new Error('the node only writes statuses');
    const { metadata, status } = patch as { metadata: { uid: string }; status: Pod['status'] };
    const pod = this.#get(key, metadata.uid);
    return this.#store('MODIFIED', { ...pod, status: { ...pod.status, ...status } }) as KubeObject as T;
  }

  /** Graceful as for a bound pod: first the mark, then, at grace 0, the end. */
  async delete(_: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const pod = this.#get(key, options.uid);
    const grace = options.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;
    if (grace === 0) {
      this.#pods.delete(keyText(key));
      for (const watcher of this.#watchers) watcher.push({ type: 'DELETED', object: pod });
      return;
    }
    const mark = { deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: grace };
    this.#store('MODIFIED', { ...pod, metadata: { ...pod.metadata, ...mark } });
  }
}
