/** What there is to tell of the kinds that are served: their groups, their verbs, their subresources. */
import type { Kind } from './kinds/kind.ts';

export interface Group {
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly { readonly version: string; readonly kinds: readonly Kind[] }[];
}

export function groupsOf(kinds: readonly Kind[], withCore = false): Group[] {
  const groups = new Map<string, Map<string, Kind[]>>();
  for (const kind of kinds) {
    const { group, version: of } = kind.resource;
    if (group === '' && !withCore) continue;
    const versions = groups.getOrInsertComputed(group, () => new Map<string, Kind[]>());
    versions.getOrInsertComputed(of, () => []).push(kind);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions]
      .sort(([a], [b]) => byPriority(a, b))
      .map(([one, of]) => ({ version: one, kinds: of })),
  }));
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

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** Of the objects it is read and written as, where these are not the resource's own. */
  readonly type?: { readonly group: string; readonly version: string; readonly kind: string };
}

const known: readonly Subresource[] = [
  { name: 'status', verbs: ['get', 'patch', 'update'] },
  {
    name: 'scale',
    verbs: ['get', 'patch', 'update'],
    type: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  },
  { name: 'finalize', verbs: ['update'] },
  { name: 'log', verbs: ['get'] },
  { name: 'binding', verbs: ['create'], type: { group: '', version: '', kind: 'Binding' } },
  { name: 'eviction', verbs: ['create'], type: { group: 'policy', version: 'v1', kind: 'Eviction' } },
];

/** Custom kinds list theirs in the order of their definition; built-in ones by name. */
export function subresourcesOf({ subresources, isCustom = false }: Kind): Subresource[] {
  const served = known.filter(({ name }) => subresources.includes(name));
  return isCustom ? served : served.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function verbsOf({ verbs, isCustom = false }: Kind): string[] {
  const sorted = [...verbs].sort();
  if (!isCustom) return sorted;
  const order = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
  return order.filter((verb) => (sorted as string[]).includes(verb));
}
