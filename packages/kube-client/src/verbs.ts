/** The verbs: what a call looks like as a request, and what its answer means. */
import { Fault } from '@hutch/base';
import {
  type ApiRequest,
  type ApiResponse,
  apiVersionOf,
  isStatus,
  type KubeObject,
  type ObjectKey,
  type ObjectList,
  pathOf,
  type Resource,
  type ResponseObject,
  type Status,
  StatusFault,
} from '@hutch/kube-meta';
import type {
  CallOptions,
  ClientWatchEvent,
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchType,
  ScopeOptions,
  Transport,
  WatchOptions,
  WriteOptions,
} from './client.ts';

const patchContentTypes: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml', // JSON is YAML
};

/** For calls whose caller set no limit: never aborts, so its listeners never fire. */
const untilDone = new AbortController().signal;

export function createKubeClient(transport: Transport): KubeClient {
  return {
    async get<T extends KubeObject>(resource: Resource, key: ObjectKey, options: CallOptions = {}) {
      return (await ask(transport, { method: 'GET', path: pathOf(resource, key), ...options })) as T;
    },

    async list<T extends KubeObject>(resource: Resource, options: ListOptions = {}) {
      const answer = await ask(transport, {
        method: 'GET',
        path: pathOf(resource, { namespace: options.namespace }),
        query: { ...scopeQuery(options), limit: options.limit, continue: options.continue },
        signal: options.signal,
      });
      return withItemTypes(answer as ObjectList<T>, resource);
    },

    watch<T extends KubeObject>(resource: Resource, options: WatchOptions) {
      return watch<T>(transport, resource, options);
    },

    async create<T extends KubeObject>(
      resource: Resource,
      draft: { metadata: Partial<ObjectKey> },
      options: WriteOptions = {},
    ) {
      const { namespace, name } = draft.metadata;
      const { subresource } = options;
      // A new object goes to the collection and names itself; a subresource belongs to a named object.
      const at = subresource === undefined ? {} : { subresource, ...(name === undefined ? {} : { name }) };
      const path = pathOf(resource, { namespace, ...at });
      return (await ask(transport, { method: 'POST', path, body: draft, ...write(options) })) as T;
    },

    async update<T extends KubeObject>(resource: Resource, object: T, options: WriteOptions = {}) {
      const path = objectPath(resource, object.metadata, options);
      return (await ask(transport, { method: 'PUT', path, body: object, ...write(options) })) as T;
    },

    async patch<T extends KubeObject>(
      resource: Resource,
      key: ObjectKey,
      patch: unknown,
      options: WriteOptions & { readonly type?: PatchType } = {},
    ) {
      return (await ask(transport, {
        method: 'PATCH',
        path: objectPath(resource, key, options),
        body: patch,
        ...write(options),
        contentType: patchContentTypes[options.type ?? 'merge'],
      })) as T;
    },

    async delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}) {
      const { signal } = options;
      const body = deleteOptionsBody(options);
      await ask(transport, { method: 'DELETE', path: pathOf(resource, key), body, ...json, signal });
    },
  };
}

interface Ask extends Pick<ApiRequest, 'method' | 'path' | 'body' | 'contentType'> {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

const json = { contentType: 'application/json' } as const;

/** One request whose answer is an object. A failure in the answer is thrown. */
async function ask(transport: Transport, asked: Ask): Promise<ResponseObject> {
  const answer = await send(transport, asked);
  if (answer.type === 'object') return successOf(asked, answer.status, answer.object);
  throw new Error(`${asked.method} ${asked.path} answered a ${answer.type} where an object was expected`);
}

async function send(
  transport: Transport,
  { query = {}, signal = untilDone, ...asked }: Ask,
): Promise<ApiResponse> {
  signal.throwIfAborted();
  return await transport({ ...asked, query: queryOf(query), accept: 'application/json', signal });
}

async function* watch<T extends KubeObject>(
  transport: Transport,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<ClientWatchEvent<T>, void, void> {
  const asked: Ask = {
    method: 'GET',
    path: pathOf(resource, { namespace: options.namespace }),
    query: {
      ...scopeQuery(options),
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: options.timeoutSeconds,
    },
    signal: options.signal,
  };
  try {
    const answer = await send(transport, asked);
    if (answer.type === 'object') successOf(asked, answer.status, answer.object); // a refusal is thrown here
    if (answer.type !== 'watch') {
      throw new Error(`GET ${asked.path} answered a ${answer.type} where a watch was expected`);
    }
    for await (const event of answer.events) {
      if (event.type === 'ERROR') throw new StatusFault(event.object);
      yield event as ClientWatchEvent<T>;
    }
  } catch (err) {
    if (options.signal?.aborted) return; // the caller has stopped listening: an end, not a failure
    throw err;
  }
}

/**
 * Throws what an answer says went wrong. An answer that is no `Status` did not come from an API server:
 * a failing door in between is `unavailable`, so that callers treat it as a broken connection.
 */
function successOf(asked: Ask, code: number, object: ResponseObject): ResponseObject {
  if (isStatus(object) && object.status === 'Failure') throw new StatusFault(object);
  if (code < 400) return object;
  const message = `${asked.method} ${asked.path} answered ${code} without a status`;
  if (code >= 500) throw new Fault('unavailable', message);
  const status: Status = {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    message,
  };
  throw new StatusFault(status);
}

function objectPath(resource: Resource, key: ObjectKey, { subresource }: WriteOptions): string {
  return pathOf(resource, {
    namespace: key.namespace,
    name: key.name,
    ...(subresource === undefined ? {} : { subresource }),
  });
}

function scopeQuery({ labelSelector, fieldSelector, resourceVersion }: ScopeOptions) {
  return { labelSelector, fieldSelector, resourceVersion };
}

function write({ fieldManager, signal }: WriteOptions) {
  return { ...json, query: { fieldManager }, signal };
}

function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}

function deleteOptionsBody({ uid, resourceVersion, gracePeriodSeconds, propagationPolicy }: DeleteOptions) {
  const preconditions =
    uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
  };
}

/** Kubernetes leaves apiVersion and kind out of the items of a list; callers are promised whole objects. */
function withItemTypes<T extends KubeObject>(list: ObjectList<T>, resource: Resource): ObjectList<T> {
  const items = list.items ?? []; // Go writes an empty list as null
  if (items === list.items && items.every((item) => item.kind !== undefined)) return list;
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return { ...list, items: items.map((item) => ({ ...type, ...item })) };
}
