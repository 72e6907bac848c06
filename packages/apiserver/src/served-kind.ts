/** Which kind a path names, if it is served there with this verb and in this scope; else why it is not. */
import { type ApiRequest, notFound, resourceText, statusFault } from '@hutch/kube-meta';
import { hasStatus, type Kind, type Verb } from './kinds/kind.ts';
import type { Registry } from './kinds/registry.ts';
import { noSuchPage, noSuchResource, notAllowed } from './refusals.ts';
import type { ResourceTarget } from './request-target.ts';

export function servedKind(
  registry: Registry,
  { method, path }: Pick<ApiRequest, 'method' | 'path'>,
  target: ResourceTarget,
): Kind {
  const kind = registry.find(target);
  if (!kind) throw registry.isNearBuiltin(path) ? noSuchResource() : noSuchPage();
  if (kind.isCustom) checkCustom(kind, target);
  else checkBuiltin(kind, target, method);
  return kind;
}

function checkBuiltin(kind: Kind, target: ResourceTarget, method: string): void {
  const { subresource, verb, namespace, name } = target;
  if (subresource !== undefined && !kind.subresources.includes(subresource)) throw noSuchResource();
  if (namespace !== undefined && !kind.resource.namespaced) throw noSuchResource();
  if (kind.resource.namespaced && namespace === undefined) {
    if (name !== undefined && !isListing(verb)) throw noSuchResource();
    if (!isListing(verb)) throw notAllowed();
  }
  const isOnCollection = isOnCollectionOf(target);
  // A question has no path of its own.
  if (kind.review && name !== undefined) throw noSuchResource();
  if (!isVerbServed(kind, target) || method === 'HEAD') throw notAllowed();
  if (isOnCollection === (name !== undefined) && !isListing(verb)) throw notAllowed();
}

function checkCustom(kind: Kind, target: ResourceTarget): void {
  const { subresource, verb, namespace, name } = target;
  if (
    (namespace !== undefined) !== kind.resource.namespaced &&
    !(isListing(verb) && namespace === undefined)
  ) {
    throw noSuchPage();
  }
  if (subresource !== undefined && !kind.subresources.includes(subresource)) {
    throw notFound(kind.resource, name ?? '');
  }
  if (!isVerbServed(kind, target)) throw notSupported(kind, verb);
  if (!isOnCollectionOf(target) && name === undefined)
    throw statusFault('badRequest', 'name must be provided');
}

function notSupported({ resource }: Kind, verb: string): Error {
  const message = `${verb} is not supported on resources of kind "${resourceText(resource)}"`;
  return statusFault('methodNotAllowed', message, { group: resource.group, kind: resource.plural });
}

function isListing(verb: string): boolean {
  return verb === 'list' || verb === 'watch';
}

function isOnCollectionOf({ verb, subresource }: ResourceTarget): boolean {
  return isListing(verb) || verb === 'deletecollection' || (verb === 'create' && subresource === undefined);
}

function isVerbServed(kind: Kind, { verb, subresource }: ResourceTarget): boolean {
  switch (subresource) {
    case undefined:
      return kind.verbs.includes(verb as Verb);
    case 'status':
      return hasStatus(kind) && ['get', 'update', 'patch'].includes(verb);
    case 'scale':
      return kind.scale !== undefined && ['get', 'update', 'patch'].includes(verb);
    case 'finalize':
      return verb === 'update';
    case 'log':
      return verb === 'get';
    case 'binding':
    case 'eviction':
      return verb === 'create';
    default:
      return false;
  }
}
