/** What the server tells clients of itself: health, version, groups and resources. All of it is derived. */
import { apiVersionOf, type ResponseObject } from '@hutch/kube-meta';
import type { Kind } from './kinds/kind.ts';

/** The Kubernetes whose behaviour this server follows. Clients compare it with their own version. */
const version = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.1+hutch',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};

/** The answer at a path that is no resource, or undefined when there is nothing there. */
export function describePath(path: string, kinds: () => readonly Kind[]): ResponseObject | undefined {
  const at = path.length > 1 ? path.replace(/\/$/, '') : path;
  switch (at) {
    case '/healthz':
    case '/livez':
    case '/readyz':
      return 'ok';
    case '/version':
      return version as unknown as ResponseObject; // the one answer that is neither text nor an object with a kind
    case '/api':
      return typed('APIVersions', { versions: ['v1'], serverAddressByClientCIDRs: [] });
    case '/apis':
      return typed('APIGroupList', { groups: groupsOf(kinds()) });
    default:
      return describeGroup(at, kinds());
  }
}

function describeGroup(path: string, kinds: readonly Kind[]): ResponseObject | undefined {
  const [, root, first, second, ...more] = path.split('/');
  if (more.length > 0 || first === undefined) return undefined;
  if (root === 'api') return second === undefined ? resourceList('', first, kinds) : undefined;
  if (root !== 'apis') return undefined;
  if (second !== undefined) return resourceList(first, second, kinds);
  const group = groupsOf(kinds).find(({ name }) => name === first);
  return group && typed('APIGroup', group);
}

function typed(kind: string, content: object): ResponseObject {
  return { kind, apiVersion: 'v1', ...content };
}

interface Group {
  readonly name: string;
  readonly versions: readonly { readonly groupVersion: string; readonly version: string }[];
  readonly preferredVersion: object | undefined;
}

function groupsOf(kinds: readonly Kind[]): Group[] {
  const groups = new Map<string, Set<string>>();
  for (const { resource } of kinds) {
    if (resource.group !== '')
      groups.getOrInsertComputed(resource.group, () => new Set()).add(resource.version);
  }
  return [...groups].map(([name, versions]) => {
    const sorted = [...versions]
      .sort(byPriority)
      .map((one) => ({ groupVersion: `${name}/${one}`, version: one }));
    return { name, versions: sorted, preferredVersion: sorted[0] };
  });
}

/** Stable before beta before alpha, newer before older, as Kubernetes ranks versions. */
export function byPriority(a: string, b: string): number {
  const rank = (text: string): [number, number, number] | undefined => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(text);
    if (!match) return undefined;
    const stage = match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const [first, second] = [rank(a), rank(b)];
  if (!first || !second) return first ? -1 : second ? 1 : a < b ? -1 : 1;
  return second[0] - first[0] || second[1] - first[1] || second[2] - first[2];
}

function resourceList(group: string, at: string, kinds: readonly Kind[]): ResponseObject | undefined {
  const served = kinds.filter(({ resource }) => resource.group === group && resource.version === at);
  if (served.length === 0) return undefined;
  return typed('APIResourceList', {
    groupVersion: apiVersionOf({ group, version: at }),
    resources: served.flatMap(describeKind),
  });
}

const subresourceVerbs: Readonly<Record<string, readonly string[]>> = {
  status: ['get', 'patch', 'update'],
  finalize: ['update'],
  log: ['get'],
  binding: ['create'],
};

function describeKind(kind: Kind): object[] {
  const { resource, singular, shortNames, categories, verbs, subresources } = kind;
  const { plural, namespaced } = resource;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: resource.kind,
      verbs: [...verbs].sort(),
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    },
    ...subresources.map((subresource) => ({
      name: `${plural}/${subresource}`,
      singularName: '',
      namespaced,
      kind: subresource === 'binding' ? 'Binding' : resource.kind,
      verbs: subresourceVerbs[subresource] ?? [],
    })),
  ];
}
