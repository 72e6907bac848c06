/** For tests of kinds: what a create or an update makes of a body, without a server. */
import { apiVersionOf, StatusFault } from '@hutch/kube-meta';
import type { JsonObject } from '../json.ts';
import { readMetadata } from '../metadata.ts';
import { createObject } from '../verbs/create.ts';
import { updateObject } from '../verbs/update.ts';
import { builtinKinds } from './builtin.ts';
import type { ApiObject, Around, Kind } from './kind.ts';

const now = new Date('2030-01-01T00:00:00Z');

/** A store with these objects in it, and nothing reserved. */
export function aroundOf(objects: readonly ApiObject[] = []): Around {
  const reserved = new Set<string>();
  const kindOf = (plural: string) =>
    builtinKinds.find(({ resource }) => resource.plural === plural)?.resource.kind;
  const list: Around['list'] = ({ plural }) => objects.filter(({ kind }) => kind === kindOf(plural));
  return {
    now,
    list,
    get: (of, { name }) => list(of).find(({ metadata }) => metadata.name === name),
    reserve: (name) => {
      if (reserved.has(name)) return false;
      reserved.add(name);
      return true;
    },
  };
}

export const defaultAccount = anObject('ServiceAccount', 'default');

export function anObject(kind: string, name: string, content: object = {}): ApiObject {
  const { resource } = kindCalled(kind);
  const metadata = {
    name,
    namespace: 'default',
    uid: `uid-of-${name}`,
    resourceVersion: '1',
    creationTimestamp: '',
  };
  return { apiVersion: apiVersionOf(resource), kind, metadata, ...content };
}

export function kindCalled(name: string): Kind {
  const found = builtinKinds.find(({ resource }) => resource.kind === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}

function draftOf(body: JsonObject, kind: Kind) {
  const content = kind.decode?.(body) ?? body;
  const namespace = kind.resource.namespaced ? { namespace: 'default' } : {};
  return {
    ...content,
    apiVersion: apiVersionOf(kind.resource),
    kind: kind.resource.kind,
    metadata: { ...readMetadata(content.metadata), ...namespace },
  };
}

export function created(kind: Kind, content: object, around = aroundOf([defaultAccount])): ApiObject {
  const body = { metadata: { name: 'x' }, ...content } as { metadata: { name: string } };
  return createObject(draftOf(body as JsonObject, kind), kind, { name: body.metadata.name, around });
}

export function updated(kind: Kind, before: ApiObject, change: (old: ApiObject) => object): ApiObject {
  const old: ApiObject = { ...before, metadata: { ...before.metadata, resourceVersion: '1' } };
  const asked = draftOf(change(old) as JsonObject, kind);
  const around = aroundOf([defaultAccount]);
  return updateObject(old, kind, { asked, subresource: undefined, isPatch: false, around }).object;
}

/** Everything a refused write was refused for; nothing when it was not. */
export function problemsOf(write: () => unknown): string[] {
  try {
    write();
    return [];
  } catch (err) {
    if (!(err instanceof StatusFault)) throw err;
    const { details, message = '' } = err.status;
    return details?.causes?.map(({ field, message: why }) => `${field}: ${why}`) ?? [message];
  }
}
