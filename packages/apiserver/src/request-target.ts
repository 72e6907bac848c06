/** What a request is about, read from its method, path and query alone: authorisation needs no more. */
import { type ApiRequest, type FieldSelector, parseFieldSelector, statusFault } from '@hutch/kube-meta';
import { readBoolean } from './query.ts';

export interface ResourceTarget {
  readonly type: 'resource';
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

interface PathTarget {
  readonly type: 'path';
  readonly verb: string;
  readonly path: string;
}

export type RequestTarget = ResourceTarget | PathTarget;

/** `/api/V/…` and `/apis/G/V/…` with something after the version are resources; all else is a path. */
export function targetOf(request: Pick<ApiRequest, 'method' | 'path' | 'query'>): RequestTarget {
  const { method, path, query } = request;
  const asPath: PathTarget = { type: 'path', verb: method === 'HEAD' ? 'get' : method.toLowerCase(), path };

  // A slash at the end is as good as none; an empty segment anywhere else is nothing we serve.
  const segments = decoded(path).replace(/\/$/, '').split('/').slice(1);
  if (segments.includes('')) return asPath;
  const root = segments.shift();
  if (root !== 'api' && root !== 'apis') return asPath;
  const group = root === 'api' ? '' : segments.shift();
  const version = segments.shift();
  if (group === undefined || version === undefined || segments.length === 0) return asPath;
  // The old way to watch: `/api/v1/watch/…`. It is a collection's watch also where it names an object.
  const isWatchPath = segments[0] === 'watch' && segments.length > 1 && method === 'GET';
  if (isWatchPath) segments.shift();

  const where = place(segments);
  if (!where) return asPath;
  const verb = isWatchPath ? 'watch' : verbOf(method, where.name !== undefined, query);
  const name = where.name ?? (verb === 'list' || verb === 'watch' ? nameFromSelector(query) : undefined);
  return { type: 'resource', verb, group, version, ...where, ...(name === undefined ? {} : { name }) };
}

interface Place {
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

function place(segments: string[]): Place | undefined {
  const [first, second, third] = segments;
  // `namespaces/a` and `namespaces/a/status` are the namespace itself; deeper paths are what it holds.
  const isInNamespace = first === 'namespaces' && third !== undefined && !namespaceSubresources.has(third);
  const namespace = isInNamespace ? second : undefined;
  const [plural, name, subresource, ...more] = isInNamespace ? segments.slice(2) : segments;
  if (plural === undefined || more.length > 0) return undefined;
  return {
    plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function verbOf(method: ApiRequest['method'], hasName: boolean, query: URLSearchParams): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (hasName) return 'get';
      return readBoolean(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return hasName ? 'delete' : 'deletecollection';
  }
}

/** A list of exactly one name may be allowed to those who may read that one. */
function nameFromSelector(query: URLSearchParams): string | undefined {
  const text = query.get('fieldSelector');
  if (text === null) return undefined;
  let selector: FieldSelector;
  try {
    selector = parseFieldSelector(text);
  } catch {
    return undefined; // the verb itself tells what is wrong with it
  }
  return selector.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value;
}

/** The whole path at once: a slash is a slash, however it is written. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw statusFault('badRequest', `path "${path}" is not percent-encoded`, undefined, cause);
  }
}
