/** Sandbox objects, as the API behind the router serves them. */
import { type Sandbox as SandboxObject, sandboxes } from '@hutch/api';
import { Backoff, Fault, isFault, pause } from '@hutch/base';
import { chunksOf } from './byte-stream.ts';
import type { Http } from './http.ts';
import { linesOf } from './lines.ts';

export type { SandboxObject };

/** What is sent to create one. */
export type SandboxDraft = Omit<SandboxObject, 'metadata' | 'status'> & {
  readonly metadata: Partial<SandboxObject['metadata']>;
};

export type TokenProvider = () => string | Promise<string>;

type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: SandboxObject }
  | { readonly type: 'ERROR'; readonly object: { readonly code?: number; readonly message?: string } };

export class SandboxApi {
  readonly #http: Http;
  readonly #token: TokenProvider;

  constructor(http: Http, token: TokenProvider) {
    this.#http = http;
    this.#token = token;
  }

  async create(namespace: string, draft: SandboxDraft, signal: AbortSignal): Promise<SandboxObject> {
    return await this.#http.json({
      doing: `create sandbox ${namespace}/${draft.metadata.name}`,
      method: 'POST',
      path: pathOf(namespace),
      headers: await this.#authorization(),
      json: draft,
      signal,
    });
  }

  async get(namespace: string, name: string, signal: AbortSignal): Promise<SandboxObject> {
    const headers = await this.#authorization();
    return await this.#http.json({
      doing: `get sandbox ${namespace}/${name}`,
      path: pathOf(namespace, name),
      headers,
      signal,
    });
  }

  async list(namespace: string, signal: AbortSignal): Promise<readonly SandboxObject[]> {
    const { items } = await this.#http.json<{ items: readonly SandboxObject[] }>({
      doing: `list sandboxes of ${namespace}`,
      path: pathOf(namespace),
      headers: await this.#authorization(),
      signal,
    });
    return items;
  }

  /** With a uid, a namesake made in the meantime is left alone. */
  async delete(
    { namespace, name, uid }: { namespace: string; name: string; uid?: string | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    await this.#http.json({
      doing: `delete sandbox ${namespace}/${name}`,
      method: 'DELETE',
      path: pathOf(namespace, name),
      headers: await this.#authorization(),
      json: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      },
      signal,
    });
  }

  /**
   * Each version of one object from the given one on, as they appear. A watch that ends or breaks goes on
   * from the object as it then is. Rejects with `not-found` when it is deleted.
   */
  async *versions(first: SandboxObject, signal: AbortSignal): AsyncGenerator<SandboxObject, never, void> {
    const { namespace = 'default', name, uid } = first.metadata;
    const backoff = new Backoff(50, 5_000);
    const gone = () => new Fault('not-found', `sandbox ${namespace}/${name} was deleted`);
    let current = first;
    for (;;) {
      yield current;
      try {
        for await (const event of this.#watch(current, signal)) {
          if (event.object.metadata.uid !== uid) continue;
          if (event.type === 'DELETED') throw gone();
          backoff.reset();
          current = event.object;
          yield current;
        }
      } catch (err) {
        if (!isFault(err, 'unavailable', 'expired', 'timeout', 'too-many-requests')) throw err;
      }
      current = await this.#reread(current, backoff, signal);
      if (current.metadata.uid !== uid) throw gone();
    }
  }

  async #reread(object: SandboxObject, backoff: Backoff, signal: AbortSignal): Promise<SandboxObject> {
    const { namespace = 'default', name } = object.metadata;
    for (;;) {
      await pause(backoff.nextMs(), signal); // a server that closes at once must not be hammered
      try {
        return await this.get(namespace, name, signal);
      } catch (err) {
        if (!isFault(err, 'unavailable', 'timeout', 'too-many-requests')) throw err;
      }
    }
  }

  async *#watch(
    { metadata: { namespace = 'default', name, resourceVersion } }: SandboxObject,
    signal: AbortSignal,
  ): AsyncGenerator<Exclude<WatchEvent, { type: 'ERROR' }>, void, void> {
    const query = new URLSearchParams({
      watch: 'true',
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
    });
    const doing = `watch sandbox ${namespace}/${name}`;
    const response = await this.#http.send({
      doing,
      path: `${pathOf(namespace)}?${query}`,
      headers: await this.#authorization(),
      signal,
    });
    for await (const line of linesOf(chunksOf(response, doing, signal))) {
      const event = JSON.parse(line) as WatchEvent;
      if (event.type === 'ERROR') {
        const code = event.object.code === 410 ? 'expired' : 'unavailable';
        throw new Fault(code, `${doing}: ${event.object.message ?? 'the server ended it'}`);
      }
      if (event.type !== 'BOOKMARK') yield event;
    }
  }

  /** The pod's own log, through the same door. */
  async *log(
    { namespace, pod, follow }: { namespace: string; pod: string; follow: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    const doing = `read the log of pod ${namespace}/${pod}`;
    const response = await this.#http.send({
      doing,
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log?follow=${follow}`,
      headers: await this.#authorization(),
      signal,
    });
    yield* chunksOf(response, doing, signal);
  }

  async #authorization(): Promise<Record<string, string>> {
    return { authorization: `Bearer ${await this.#token()}` };
  }
}

function pathOf(namespace: string, name?: string): string {
  const { group, version, plural } = sandboxes;
  const all = `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
}
