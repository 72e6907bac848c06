/**
 * Typed verbs over a transport. Holds no cache and no retry policy: those belong to `controller`.
 *
 * Every expected failure is thrown as a `StatusFault`; a connection that cannot be made or breaks is an
 * `unavailable` fault. Every call ends with `signal.reason` when its signal aborts.
 */
import type {
  ApiRequest,
  ApiResponse,
  Draft,
  KubeObject,
  ObjectKey,
  ObjectList,
  Resource,
  WatchEvent,
} from '@hutch/kube-meta';

/** One request, one answer. The user is the transport's business. */
export type Transport = (request: Omit<ApiRequest, 'user'>) => Promise<ApiResponse>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface ScopeOptions extends CallOptions {
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface ListOptions extends ScopeOptions {
  readonly limit?: number;
  readonly continue?: string;
}

export interface WatchOptions extends ScopeOptions {
  readonly timeoutSeconds?: number;
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: string;
  readonly fieldManager?: string;
}

export type PatchType = 'merge' | 'json' | 'strategic' | 'apply';

export interface PatchOptions extends WriteOptions {
  readonly type?: PatchType;
}

export interface DeleteOptions extends CallOptions {
  /** Refuse (conflict) when the object is a namesake of the one meant. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** Bookmarks are always asked for and are passed on; an ERROR event is thrown as a `StatusFault`. */
export type ClientWatchEvent<T extends KubeObject> = Exclude<WatchEvent<T>, { readonly type: 'ERROR' }>;

export interface KubeClient {
  get<T extends KubeObject>(resource: Resource, key: ObjectKey, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<ObjectList<T>>;
  /** Ends when the server ends it or the signal aborts; `follow` in @hutch/controller re-watches for ever. */
  watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<ClientWatchEvent<T>>;
  create<T extends KubeObject>(resource: Resource, draft: Draft<T>, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(
    resource: Resource,
    key: ObjectKey,
    patch: unknown,
    options?: PatchOptions,
  ): Promise<T>;
  delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void>;
}
