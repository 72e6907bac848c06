import assert from 'node:assert/strict';
import { findCondition, type Sandbox, sandboxes } from '@hutch/api';
import { silentLog } from '@hutch/base';
import type { Reconcile } from '@hutch/controller';
import { type Pod, type PodStatus, pods } from '@hutch/kube-meta';
import { now } from './fixtures.test.ts';
import { LateCache, MemoryApi } from './memory-api.test.ts';
import { sandboxReconciler } from './reconcile.ts';

/** One sandbox, its API server, its caches and its reconciler. Holds no test itself. */
export class Scene {
  readonly api = new MemoryApi();
  readonly sandboxCache = new LateCache<Sandbox>(this.api, sandboxes);
  readonly podCache = new LateCache<Pod>(this.api, pods);
  readonly events: string[] = [];
  now = now;
  #reconcile = this.#newReconciler();

  constructor(sandbox: Sandbox, podsThere: readonly Pod[] = []) {
    this.api.put(sandboxes, sandbox);
    for (const pod of podsThere) this.api.put(pods, pod);
    this.catchUp();
  }

  /** A new process: what the old one had in memory is lost. */
  restart(): void {
    this.#reconcile = this.#newReconciler();
  }

  #newReconciler(): Reconcile {
    return sandboxReconciler({
      client: this.api,
      sandboxes: this.sandboxCache,
      pods: this.podCache,
      recorder: { record: (_object, { reason }) => this.events.push(reason) },
      clock: { now: () => this.now },
    });
  }

  catchUp(): void {
    this.sandboxCache.catchUp();
    this.podCache.catchUp();
  }

  /** A pass on what the caches show now; returns the writes it made. */
  async pass(): Promise<{ writes: string[]; requeueAfterMs?: number | undefined }> {
    const from = this.api.writes.length;
    const key = { namespace: 'default', name: 'box' };
    const { requeueAfterMs } = await this.#reconcile(key, {
      signal: new AbortController().signal,
      log: silentLog,
    });
    return {
      writes: this.api.writes.slice(from),
      ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
    };
  }

  /** A pass on caches that are up to date. */
  async freshPass() {
    this.catchUp();
    return await this.pass();
  }

  get sandbox(): Sandbox {
    const found = this.api.find<Sandbox>(sandboxes, 'box');
    assert.ok(found);
    return found;
  }

  get pod(): Pod {
    const found = this.api.find<Pod>(pods, 'box');
    assert.ok(found);
    return found;
  }

  reading(type: string): string | undefined {
    const condition = findCondition(this.sandbox.status?.conditions, type);
    return condition && `${condition.status}/${condition.reason}`;
  }

  podBecomes(status: PodStatus): void {
    this.api.put(pods, { ...this.pod, status });
  }

  edit(change: Partial<Sandbox['spec']>): void {
    const { metadata, spec } = this.sandbox;
    const generation = (metadata.generation ?? 0) + 1;
    this.api.put(sandboxes, {
      ...this.sandbox,
      metadata: { ...metadata, generation },
      spec: { ...spec, ...change },
    });
  }
}
