import { Backoff, silentLog, systemClock } from '@hutch/base';
import { follow } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import {
  apiVersionOf,
  type Draft,
  type DraftMeta,
  type Event,
  events,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type OwnerReference,
  type Pod,
  pods,
  type Resource,
} from '@hutch/kube-meta';

export interface SceneOptions {
  readonly client: KubeClient;
  /** Its own, there already. Everything outside namespaces is named after it. */
  readonly namespace: string;
  /** The one node there is. */
  readonly nodeName: string;
  readonly signal: AbortSignal;
}

/** Where a case plays: a namespace of its own, and the words it is told in. */
export class Scene {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly nodeName: string;
  readonly signal: AbortSignal;

  constructor({ client, namespace, nodeName, signal }: SceneOptions) {
    this.client = client;
    this.namespace = namespace;
    this.nodeName = nodeName;
    this.signal = signal;
  }

  /** A name of the scene's own for something outside namespaces. */
  own(name: string): string {
    return `${this.namespace}-${name}`;
  }

  key(resource: Resource, name: string): ObjectKey {
    return resource.namespaced ? { namespace: this.namespace, name } : { name: this.own(name) };
  }

  /** Names are the scene's: outside namespaces they are made its own. `body` is all but type and identity. */
  async make<T extends KubeObject>(
    resource: Resource,
    name: string,
    { metadata, ...body }: { metadata?: DraftMeta } & Record<string, unknown> = {},
  ): Promise<T> {
    const draft = {
      ...body,
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { ...this.key(resource, name), ...metadata },
    };
    return await this.client.create<T>(resource, draft as unknown as Draft<T>, { signal: this.signal });
  }

  async get<T extends KubeObject>(resource: Resource, name: string): Promise<T> {
    return await this.client.get<T>(resource, this.key(resource, name), { signal: this.signal });
  }

  async patch<T extends KubeObject>(
    resource: Resource,
    name: string,
    patch: unknown,
    subresource?: string,
  ): Promise<T> {
    const options = { signal: this.signal, ...(subresource === undefined ? {} : { subresource }) };
    return await this.client.patch<T>(resource, this.key(resource, name), patch, options);
  }

  async delete(
    resource: Resource,
    name: string,
    propagationPolicy?: 'Background' | 'Foreground' | 'Orphan',
  ): Promise<void> {
    const policy = propagationPolicy === undefined ? {} : { propagationPolicy };
    await this.client.delete(resource, this.key(resource, name), { signal: this.signal, ...policy });
  }

  /** Waits until the object (or its absence: undefined) is as wanted. */
  async until<T extends KubeObject>(
    resource: Resource,
    name: string,
    isWanted: (object: T | undefined) => boolean,
  ): Promise<T | undefined> {
    const text = keyText(this.key(resource, name));
    const find = (all: readonly T[]) => all.find((object) => keyText(keyOf(object)) === text);
    return find(await this.untilAll<T>(resource, (all) => isWanted(find(all))));
  }

  async untilGone(resource: Resource, name: string): Promise<void> {
    await this.until(resource, name, (object) => object === undefined);
  }

  /** Waits until all objects of a kind, in the scene's namespace where it has one, are as wanted. */
  async untilAll<T extends KubeObject>(
    resource: Resource,
    isWanted: (objects: readonly T[]) => boolean,
    namespace = this.namespace,
  ): Promise<readonly T[]> {
    const known = new Map<string, T>();
    const scope = resource.namespaced ? { namespace } : {};
    const options = {
      backoff: new Backoff(50, 1_000),
      clock: systemClock,
      log: silentLog,
      signal: this.signal,
    };
    for await (const change of follow<T>(this.client, resource, scope, options)) {
      if (change.type === 'replaced') {
        known.clear();
        for (const object of change.objects) known.set(keyText(keyOf(object)), object);
      } else if (change.type === 'deleted') known.delete(keyText(keyOf(change.object)));
      else known.set(keyText(keyOf(change.object)), change.object);
      const all = [...known.values()];
      if (isWanted(all)) return all;
    }
    const last = JSON.stringify([...known.values()].map(withoutNoise));
    throw new Error(`waited in vain for ${resource.plural}; last seen: ${last.slice(0, 2_000)}`);
  }

  /** Waits for an event about an object; both APIs of events tell their reason the same way. */
  async untilTold(resource: Resource, name: string, reason: string): Promise<string> {
    const wanted = this.key(resource, name).name;
    const isIt = (event: Event) => event.involvedObject.name === wanted && event.reason === reason;
    const namespace = resource.namespaced ? this.namespace : 'default';
    const all = await this.untilAll<Event>(events, (told) => told.some(isIt), namespace);
    const event = all.find(isIt);
    return `${event?.type} ${event?.reason}: ${event?.message}`;
  }

  async makePod(
    name: string,
    given: { metadata?: DraftMeta; spec?: Partial<Pod['spec']> } = {},
  ): Promise<Pod> {
    const { metadata = {}, spec = {} } = given;
    const containers = [{ name: 'main', image: 'example.test/image' }];
    return await this.make<Pod>(pods, name, { metadata, spec: { containers, ...spec } });
  }

  /** Says of a pod what its node would say. */
  async showPod(name: string, { ip, ready }: { ip: string; ready: boolean }): Promise<void> {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions };
    await this.patch(pods, name, { status }, 'status');
  }

  async makeRunningPod(
    name: string,
    { ip, ready = true, ...given }: Parameters<Scene['makePod']>[1] & { ip: string; ready?: boolean },
  ): Promise<Pod> {
    const pod = await this.makePod(name, given);
    await this.until<Pod>(pods, name, (seen) => seen?.spec.nodeName !== undefined);
    await this.showPod(name, { ip, ready });
    return pod;
  }

  /** Ends a pod as its node would. */
  async endPod(name: string): Promise<void> {
    await this.client.delete(pods, this.key(pods, name), { gracePeriodSeconds: 0, signal: this.signal });
  }
}

export function ownedBy(
  { apiVersion, kind, metadata: { name, uid } }: KubeObject,
  given: Partial<OwnerReference> = {},
): OwnerReference {
  return { apiVersion, kind, name, uid, ...given };
}

function withoutNoise({ metadata: { managedFields: _, ...metadata }, ...rest }: KubeObject): unknown {
  return { ...rest, metadata };
}
