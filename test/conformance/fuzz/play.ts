/** Plays a sequence on a server, writes down what was answered, and leaves the place empty. */

import { groupOf } from '../cases/objects.ts';
import { at, isRecord, type JsonRecord } from '../harness/json.ts';
import type { Scene } from '../harness/scene.ts';
import type { Kind, Op, Sequence, Spoil } from './grammar.ts';

export async function play(scene: Scene, { watched, selector, ops }: Sequence): Promise<void> {
  const player = new Player(scene);
  try {
    const from = String(
      at(await scene.prepare('GET', `${player.path(watched)}?limit=1`), 'metadata', 'resourceVersion'),
    );
    const query = { resourceVersion: from, ...(selector === '' ? {} : { labelSelector: selector }) };
    const watch = await scene.watch(player.path(watched), { query });
    for (const op of ops) await player.play(op);
    // The last event of the watch: what comes before it is all there was.
    await player.create(watched, 'end', { labels: { l: '1' } });
    await watch.until((event) => at(event, 'object', 'metadata', 'name') === 'end');
    await watch.close();
  } finally {
    await player.clear();
  }
}

const minimal: Readonly<Record<Kind, JsonRecord>> = {
  configmaps: {},
  secrets: {},
  pods: { spec: { containers: [{ name: 'main', image: 'x' }] } },
  services: { spec: { ports: [{ port: 80 }] } },
  widgets: {},
};

const kindNames: Readonly<Record<Kind, string>> = {
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  pods: 'Pod',
  services: 'Service',
  widgets: 'Widget',
};

type Draft = Pick<Extract<Op, { op: 'create' }>, 'kind' | 'name' | 'meta' | 'fields' | 'spoil'>;

class Player {
  readonly #scene: Scene;
  /** Revisions seen of each object, the newest last. */
  readonly #seen = new Map<string, string[]>();
  readonly #touched = new Set<string>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  path(kind: Kind, ...rest: readonly string[]): string {
    return this.#scene.in(kind === 'widgets' ? `${groupOf(this.#scene)}/v1/widgets` : kind, ...rest);
  }

  async create(kind: Kind, name: string, meta: JsonRecord): Promise<void> {
    this.#touched.add(this.path(kind, name));
    const draft = { kind, name, meta, fields: minimal[kind], spoil: null };
    await this.#scene.prepare('POST', this.path(kind), this.#object(draft, {}));
  }

  async play(op: Op): Promise<void> {
    const scene = this.#scene;
    if (op.op === 'list') await scene.get(this.path(op.kind), { query: withoutPublished(op) });
    else if (op.op === 'get') await scene.get(this.path(op.kind, op.name));
    else if (op.op === 'clear') {
      const query = withoutPublished(op);
      await scene.delete(this.path(op.kind), undefined, { query, show: (body) => at(body, 'kind') });
    } else await this.#write(op);
  }

  async #write(op: Exclude<Op, { op: 'list' | 'clear' | 'get' }>): Promise<void> {
    const { kind, name } = op;
    const path = this.path(kind, name);
    this.#touched.add(path);
    const { body } = await this.#send(op, path);
    const revision = at(body, 'metadata', 'resourceVersion');
    if (isRecord(body) && body.kind !== 'Status' && typeof revision === 'string' && revision !== '') {
      this.#seen.set(path, [...(this.#seen.get(path) ?? []), revision]);
    }
  }

  #send(op: Exclude<Op, { op: 'list' | 'clear' | 'get' }>, path: string) {
    const scene = this.#scene;
    switch (op.op) {
      case 'create':
        return scene.post(this.path(op.kind), this.#object(op, {}), { query: op.query });
      case 'update': {
        const seen = this.#seen.get(path) ?? [];
        const revision =
          op.revision === 'none' ? undefined : op.revision === 'last' ? seen.at(-1) : seen.at(0);
        return scene.put(path, this.#object(op, revision === undefined ? {} : { resourceVersion: revision }));
      }
      case 'merge': {
        const target = op.subresource ? `${path}/${op.subresource}` : path;
        const metadata = Object.keys(op.meta).length > 0 ? { metadata: op.meta } : {};
        return scene.patch('merge', target, spoiled({ ...op.fields, ...metadata }, op.spoil), {
          query: op.query,
        });
      }
      case 'json':
        return scene.patch('json', path, op.patch);
      case 'delete':
        return scene.delete(path, { kind: 'DeleteOptions', apiVersion: 'v1', ...op.options });
    }
  }

  #object({ kind, name, fields, meta, spoil }: Draft, more: JsonRecord): JsonRecord {
    const apiVersion = kind === 'widgets' ? `${groupOf(this.#scene)}/v1` : 'v1';
    const wild = spoiled({ metadata: meta, ...fields }, spoil) as { metadata: unknown; spec?: unknown };
    const metadata = isRecord(wild.metadata) ? { name, ...wild.metadata, ...more } : wild.metadata;
    // Nobody but the sequence may write to a pod, and a token volume has a name of chance.
    const quiet =
      kind === 'pods' && isRecord(wild.spec)
        ? { spec: { schedulerName: 'nobody', automountServiceAccountToken: false, ...wild.spec } }
        : {};
    return { apiVersion, kind: kindNames[kind], ...wild, metadata, ...quiet };
  }

  /** By force: finalizers, graces and all. */
  async clear(): Promise<void> {
    for (const path of this.#touched) {
      if (!(await this.#scene.peek(path))) continue;
      const headers = { 'content-type': 'application/merge-patch+json' };
      await this.#scene.prepare('PATCH', path, { metadata: { finalizers: null } }, headers).catch(() => {}); // may be its end
      await this.#scene.prepare('DELETE', path, { gracePeriodSeconds: 0 }).catch(() => {});
      await this.#scene.settled(path, (found) => found === undefined);
    }
  }
}

/** Every namespace has a config map that a controller makes when it gets to it. */
function withoutPublished({
  kind,
  query,
}: Extract<Op, { op: 'list' | 'clear' }>): Readonly<Record<string, string>> {
  if (kind !== 'configmaps') return query;
  const chosen = query.fieldSelector === undefined ? '' : `${query.fieldSelector},`;
  return { ...query, fieldSelector: `${chosen}metadata.name!=kube-root-ca.crt` };
}

/** The body with one of its values, counted in the order they stand in, replaced. */
function spoiled(body: JsonRecord, spoil: Spoil | null): JsonRecord {
  if (!spoil) return body;
  const places = placesOf(body);
  const place = places[spoil.place % places.length];
  return place ? (replaced(body, place, spoil.value) as JsonRecord) : body;
}

type Place = readonly (string | number)[];

function placesOf(value: unknown): Place[] {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : isRecord(value)
      ? Object.entries(value)
      : [];
  return entries.flatMap(([key, inner]) => [[key], ...placesOf(inner).map((rest) => [key, ...rest])]);
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? replaced(item, rest, by) : item));
  return { ...(value as JsonRecord), [key]: replaced((value as JsonRecord)[key], rest, by) };
}
