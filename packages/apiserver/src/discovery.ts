/** What the server tells clients of itself: health, version, groups and resources. All of it is derived. */
import { createHash } from 'node:crypto';
import { type ApiResponse, apiVersionOf, type Method, type ResponseObject } from '@hutch/kube-meta';
import { type Kind, storedApiVersion } from './kinds/kind.ts';
import { aggregatedDiscovery } from './output/aggregated-discovery.ts';
import {
  aggregatedDiscoveryVersion,
  checkAcceptsJson,
  named,
  noRepresentation,
  notAcceptable,
} from './output/negotiate.ts';
import { type Group, groupsOf, subresourcesOf, verbsOf } from './served-groups.ts';

/** The Kubernetes whose behaviour this server follows. Clients compare it with their own version. */
const version = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.1+hutch',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

interface Document {
  readonly methods: readonly Method[];
  readonly answer: ApiResponse;
}

interface DiscoveryRequest {
  readonly kinds: () => readonly Kind[];
  readonly accept?: string | undefined;
}

/** The answer at a path that is no resource, or undefined when there is nothing there. */
export function describePath(path: string, request: DiscoveryRequest): Document | undefined {
  const at = path.length > 1 ? path.replace(/\/$/, '') : path;
  if (healthPaths.test(at)) return document('ok', everyMethod);
  const found = describe(at, request);
  if (found === undefined) return undefined;
  // The list of groups and each group are told whatever the method; so it has always been.
  const methods: readonly Method[] = /^\/apis(\/[^/]+)?$/.test(at) ? everyMethod : ['GET'];
  return document(found.object, methods, found.headers);
}

const healthPaths = /^\/(healthz|livez|readyz)(\/ping)?$/;
const everyMethod: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

function document(object: ResponseObject, methods: readonly Method[], headers = {}): Document {
  return { methods, answer: { type: 'object', status: 200, object, headers } };
}

interface Described {
  readonly object: ResponseObject;
  readonly headers?: Readonly<Record<string, string>>;
}

function describe(at: string, { kinds, accept }: DiscoveryRequest): Described | undefined {
  const isRoot = at === '/api' || at === '/apis';
  const forms = at === '/version' ? ['application/json'] : named;
  checkAcceptsJson(accept, () => (isRoot ? notAcceptable() : noRepresentation(forms)));
  switch (at) {
    case '/':
      return { object: { paths: pathsOf(kinds()) } as unknown as ResponseObject };
    case '/version':
      return { object: version as unknown as ResponseObject }; // neither text nor an object with a kind
    case '/api':
    case '/apis': {
      const aggregated = aggregatedDiscoveryVersion(accept);
      if (aggregated !== undefined) {
        const served = kinds().filter(({ resource }) => (resource.group === '') === (at === '/api'));
        const contentType = `application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`;
        return {
          object: aggregatedDiscovery(groupsOf(served, true), aggregated),
          headers: { 'Content-Type': contentType, Vary: 'Accept' },
        };
      }
      if (at === '/api') return { object: coreVersions };
      return { object: typed('APIGroupList', { groups: groupsOf(kinds()).map(described) }) };
    }
    default: {
      const object = describeGroup(at, kinds());
      return object === undefined ? undefined : { object };
    }
  }
}

const coreVersions = {
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [],
} as unknown as ResponseObject;

function pathsOf(kinds: readonly Kind[]): string[] {
  const groups = groupsOf(kinds).flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map((one) => `/apis/${name}/${one.version}`),
  ]);
  return ['/api', '/api/v1', '/apis', ...groups.sort(), '/healthz', '/livez', '/readyz', '/version'];
}

function describeGroup(path: string, kinds: readonly Kind[]): ResponseObject | undefined {
  const [, root, first, second, ...more] = path.split('/');
  if (more.length > 0 || first === undefined) return undefined;
  if (root === 'api') return second === undefined ? resourceList('', first, kinds) : undefined;
  if (root !== 'apis') return undefined;
  if (second !== undefined) return resourceList(first, second, kinds);
  const group = groupsOf(kinds).find(({ name }) => name === first);
  return group && typed('APIGroup', described(group));
}

function typed(kind: string, content: object): ResponseObject {
  return { kind, apiVersion: 'v1', ...content };
}

function described({ name, versions }: Group) {
  const named = versions.map((one) => ({ groupVersion: `${name}/${one.version}`, version: one.version }));
  return { name, versions: named, preferredVersion: named[0] };
}

function resourceList(group: string, at: string, kinds: readonly Kind[]): ResponseObject | undefined {
  const served = kinds.filter(({ resource }) => resource.group === group && resource.version === at);
  if (served.length === 0) return undefined;
  // Only the core group's list has been without a version of its own since the beginning.
  const type = group === '' ? { kind: 'APIResourceList' } : { kind: 'APIResourceList', apiVersion: 'v1' };
  return {
    ...type,
    groupVersion: apiVersionOf({ group, version: at }),
    resources: served.sort(byPlural).flatMap(describeKind),
  } as unknown as ResponseObject;
}

function byPlural(a: Kind, b: Kind): number {
  return a.resource.plural < b.resource.plural ? -1 : 1;
}

function describeKind(kind: Kind): object[] {
  const { resource, singular, shortNames, categories } = kind;
  const { plural, namespaced } = resource;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: resource.kind,
      verbs: verbsOf(kind),
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(kind.verbs.includes('list') ? { storageVersionHash: storageVersionHash(kind) } : {}),
    },
    ...subresourcesOf(kind).map(({ name, verbs, type }) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced,
      ...(type && type.version !== '' ? { group: type.group, version: type.version } : {}),
      kind: type?.kind ?? resource.kind,
      verbs,
    })),
  ];
}

/** Lets clients see that the form objects are stored in has changed. */
function storageVersionHash(kind: Kind): string {
  const stored = storedApiVersion(kind);
  const [group, of] = stored.includes('/') ? stored.split('/') : ['', stored];
  const digest = createHash('sha256').update(`${group}/${of}/${kind.resource.kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}
