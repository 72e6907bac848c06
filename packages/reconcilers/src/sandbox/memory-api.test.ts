/**
 * For tests: as much of an API server as the reconciler leans on, with a log of every write and failures on demand.
 * Caches are told only when a test says so, so that they can be as far behind as a case needs. Holds no test itself.
 */
import { Channel, type Fault } from '@hutch/base';
import type {
  ClientWatchEvent,
  DeleteOptions,
  KubeClient,
  PatchOptions,
  ScopeOptions,
} from '@hutch/kube-client';
import {
  alreadyExists,
  conflict,
  controllerOf,
  type Draft,
  jsonEquals,
  type KubeObject,
  keyText,
  matchesLabels,
  mergePatch,
  notFound,
  type ObjectKey,
  type ObjectList,
  type Pod,
  parseLabelSelector,
  type Resource,
} from '@hutch/kube-meta';

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
  readonly previous?: KubeObject | undefined;
}

export class MemoryApi implements KubeClient {
  /** `verb plural/name`, in order; `patch sandboxes/status/box` for a subresource. */
  readonly writes: string[] = [];
  /** Asked before every call; what it returns is thrown. */
  failure: (call: string) => Fault | undefined = () => undefined;
  readonly #objects = new Map<string, KubeObject>();
  readonly #history: Change[] = [];
  readonly #watchers = new Set<(change: Change) => void>();
  #version = 100;

  async get<T extends KubeObject>(resource: Resource, key: ObjectKey): Promise<T> {
    this.#mayFail(`get ${resource.plural}/${key.name}`);
    return this.#find<T>(resource, key);
  }

  async list<T extends KubeObject>(resource: Resource, options: ScopeOptions = {}): Promise<ObjectList<T>> {
    const items = this.all<T>(resource).filter((object) => isSelected(object, options));
    const metadata = { resourceVersion: String(this.#version) };
    return { apiVersion: 'v1', kind: `${resource.kind}List`, metadata, items };
  }

  async *watch<T extends KubeObject>(
    resource: Resource,
    options: ScopeOptions,
  ): AsyncGenerator<ClientWatchEvent<T>> {
    const watcher = ({ type, object, previous }: Change) => {
      if (object.kind !== resource.kind) return;
      const is = isSelected(object, options);
      const was = previous !== undefined && isSelected(previous, options);
      if (was && (type === 'DELETED' || !is)) channel.push({ type: 'DELETED', object: object as T });
      else if (is) channel.push({ type: was ? 'MODIFIED' : 'ADDED', object: object as T });
    };
    const channel = new Channel<ClientWatchEvent<T>>(1000, () => this.#watchers.delete(watcher));
    options.signal?.addEventListener('abort', () => channel.end(), { once: true });
    const since = Number(options.resourceVersion ?? this.#version);
    for (const change of this.#history) if (change.version > since) watcher(change);
    this.#watchers.add(watcher);
    yield* channel;
  }

  async create<T extends KubeObject>(resource: Resource, draft: Draft<T>): Promise<T> {
    const { name = 'unnamed', namespace = 'default' } = draft.metadata;
    this.#write(`create ${resource.plural}/${name}`);
    if (this.#objects.has(idOf(resource, { namespace, name }))) throw alreadyExists(resource, name);
    return this.put(resource, {
      ...draft,
      metadata: { ...draft.metadata, uid: `uid-${this.#version}`, creationTimestamp: '2030-01-01T00:10:00Z' },
      ...(resource.kind === 'Pod' ? { status: { phase: 'Pending' } } : {}),
    } as unknown as T);
  }

  async update<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    this.#write(`update ${resource.plural}/${object.metadata.name}`);
    return this.put(resource, object);
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    patch: { metadata?: { resourceVersion?: string } },
    { subresource }: PatchOptions = {},
  ): Promise<T> {
    this.#write(`patch ${[resource.plural, ...(subresource ? [subresource] : []), key.name].join('/')}`);
    const before = this.#find<T>(resource, key);
    const wanted = patch.metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== before.metadata.resourceVersion) {
      throw conflict(resource, key.name, 'the object has been modified');
    }
    const after = mergePatch(before, patch) as T;
    return jsonEquals(before, after) ? before : this.put(resource, after);
  }

  async delete(resource: Resource, key: ObjectKey, { uid }: DeleteOptions = {}): Promise<void> {
    this.#write(`delete ${resource.plural}/${key.name}`);
    const object = this.#find(resource, key);
    if (uid !== undefined && uid !== object.metadata.uid) throw conflict(resource, key.name, 'another uid');
    if (resource.kind === 'Pod') {
      this.put(resource, {
        ...object,
        metadata: { ...object.metadata, deletionTimestamp: '2030-01-01T00:10:00Z' },
      });
    } else this.remove(resource, key);
  }

  /** The server's own doing: not in the log of writes. */
  put<T extends KubeObject>(resource: Resource, object: T): T {
    const metadata = { namespace: 'default', ...object.metadata, resourceVersion: String(++this.#version) };
    const kept: T = { ...object, metadata };
    const id = idOf(resource, metadata);
    const previous = this.#objects.get(id);
    this.#objects.set(id, kept);
    this.#tell({ version: this.#version, type: previous ? 'MODIFIED' : 'ADDED', object: kept, previous });
    return kept;
  }

  remove(resource: Resource, key: ObjectKey): void {
    const object = this.#find(resource, key);
    this.#objects.delete(idOf(resource, key));
    this.#tell({ version: ++this.#version, type: 'DELETED', object, previous: object });
  }

  #tell(change: Change): void {
    this.#history.push(change);
    for (const watcher of this.#watchers) watcher(change);
  }

  all<T extends KubeObject>(resource: Resource): T[] {
    return [...this.#objects.values()].filter(({ kind }) => kind === resource.kind) as T[];
  }

  find<T extends KubeObject>(resource: Resource, name: string): T | undefined {
    return this.#objects.get(idOf(resource, { namespace: 'default', name })) as T | undefined;
  }

  #find<T extends KubeObject>(resource: Resource, key: ObjectKey): T {
    const object = this.#objects.get(idOf(resource, key));
    if (!object) throw notFound(resource, key.name);
    return object as T;
  }

  #write(call: string): void {
    this.writes.push(call);
    this.#mayFail(call);
  }

  #mayFail(call: string): void {
    const fault = this.failure(call);
    if (fault) throw fault;
  }
}

/** A copy that shows the world of its last `catchUp`. */
export class LateCache<T extends KubeObject> {
  readonly #api: MemoryApi;
  readonly #resource: Resource;
  #objects: readonly T[] = [];

  constructor(api: MemoryApi, resource: Resource) {
    this.#api = api;
    this.#resource = resource;
  }

  catchUp(): void {
    this.#objects = this.#api.all<T>(this.#resource);
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.find(({ metadata }) => keyText(metadata) === keyText(key));
  }

  byIndex(_name: string, uid: string): readonly T[] {
    return this.#objects.filter((object) => controllerOf(object as unknown as Pod)?.uid === uid);
  }
}

function idOf(resource: Resource, key: ObjectKey): string {
  return `${resource.plural} ${keyText({ namespace: key.namespace ?? 'default', name: key.name })}`;
}

function isSelected(object: KubeObject, { namespace, labelSelector }: ScopeOptions): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return !labelSelector || matchesLabels(parseLabelSelector(labelSelector), object.metadata.labels ?? {});
}
