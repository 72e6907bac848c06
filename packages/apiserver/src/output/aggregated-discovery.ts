/** Discovery in one answer: every group with its versions and resources (`apidiscovery.k8s.io`). */
import type { ResponseObject } from '@hutch/kube-meta';
import type { Kind } from '../kinds/kind.ts';
import { type Group, subresourcesOf, verbsOf } from '../served-groups.ts';

export function aggregatedDiscovery(groups: readonly Group[], apiVersion: string): ResponseObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, kinds }) => ({
        version,
        resources: kinds.map(describe),
        freshness: 'Current',
      })),
    })),
  } as unknown as ResponseObject;
}

function describe(kind: Kind): object {
  const { resource, singular, shortNames, categories, isCustom = false } = kind;
  // Built-in kinds leave their own group and version to the place they are listed in.
  const own = isCustom
    ? { group: resource.group, version: resource.version, kind: resource.kind }
    : { group: '', version: '', kind: resource.kind };
  const subresources = subresourcesOf(kind).map(({ name, verbs, type }) => ({
    subresource: name,
    responseKind: type ?? own,
    verbs,
  }));
  return {
    resource: resource.plural,
    responseKind: own,
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(kind),
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}
