/** The smallest objects that can be created, and what a case wants different about them. */
import { at, type JsonRecord } from '../harness/json.ts';
import type { Scene } from '../harness/scene.ts';

export type Meta = Readonly<Record<string, unknown>>;

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  meta: Meta = {},
): JsonRecord {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data };
}

export function secret(name: string, fields: JsonRecord = {}): JsonRecord {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...fields };
}

/** No scheduler looks at it, so that nobody but the case writes to it. */
export function pod(name: string, spec: JsonRecord = {}, meta: Meta = {}): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...meta },
    spec: {
      schedulerName: 'nobody',
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'example.com/main:1' }],
      ...spec,
    },
  };
}

export function service(name: string, spec: JsonRecord = {}): JsonRecord {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

export interface CrdOptions {
  readonly plural?: string;
  readonly kind?: string;
  readonly scope?: 'Namespaced' | 'Cluster';
  /** Of the one version. */
  readonly version?: JsonRecord;
  readonly schema?: JsonRecord;
  /** Of spec. */
  readonly more?: JsonRecord;
}

/** A definition in a group that only this scene has. */
export function crd(scene: Scene, options: CrdOptions = {}): JsonRecord {
  const { plural = 'widgets', kind = 'Widget', scope = 'Namespaced', version = {}, more = {} } = options;
  const schema = options.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const group = groupOf(scene);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
      ...more,
    },
  };
}

export function groupOf({ id }: Scene): string {
  return `${id}.example.com`;
}

export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Defines a kind and waits until it is served. Gives the path of its objects in the scene's namespace. */
export async function define(scene: Scene, options: CrdOptions = {}): Promise<string> {
  const draft = crd(scene, options);
  const name = String(at(draft, 'metadata', 'name'));
  await scene.prepare('POST', crds, draft);
  scene.afterwards(() => scene.prepare('DELETE', `${crds}/${name}`));
  await established(scene, name);
  const path = pathsOf(scene, options);
  // The condition comes before the handler: the real server needs a moment more until it serves the kind.
  await served(scene, path.all);
  return options.scope === 'Cluster' ? path.all : path.inNamespace;
}

export function pathsOf(
  scene: Scene,
  { plural = 'widgets', version = {} }: CrdOptions = {},
  versionName = String(version.name ?? 'v1'),
) {
  const root = `/apis/${groupOf(scene)}/${versionName}`;
  return { all: `${root}/${plural}`, inNamespace: `${root}/namespaces/${scene.namespace}/${plural}` };
}

export async function established(scene: Scene, name: string): Promise<void> {
  await scene.settled(`${crds}/${name}`, (found) => conditionOf(found, 'Established') === 'True');
}

export async function served(scene: Scene, path: string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (await scene.peek(path)) return;
    // Nothing tells of a handler being put in place: asking again is the only way.
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`${path} is not served`);
}

export function conditionOf(object: JsonRecord | undefined, type: string): unknown {
  const conditions = at(object, 'status', 'conditions');
  const found = Array.isArray(conditions) ? conditions.find((one) => at(one, 'type') === type) : undefined;
  return at(found, 'status');
}

export function widget(scene: Scene, name: string, fields: JsonRecord = {}, meta: Meta = {}): JsonRecord {
  return { apiVersion: `${groupOf(scene)}/v1`, kind: 'Widget', metadata: { name, ...meta }, ...fields };
}

/** What became of a write, without the object: enough where only acceptance is asked about. */
export const verdict = (body: unknown): unknown =>
  at(body, 'kind') === 'Status' ? body : { kind: at(body, 'kind') };

export const names = (body: unknown): unknown => {
  const items = at(body, 'items');
  return Array.isArray(items) ? items.map((item) => at(item, 'metadata', 'name')) : body;
};
