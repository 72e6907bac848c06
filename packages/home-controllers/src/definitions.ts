/** As much of a CustomResourceDefinition as is needed to follow what it defines. */
import { fieldText, type KubeObject, type Resource } from '@hutch/kube-meta';

export interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: { readonly plural: string; readonly kind: string };
    readonly versions: readonly DefinedVersion[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: { readonly scale?: { readonly specReplicasPath: string } };
}

/** Where the objects of a definition are read, if they are served at all. */
export function servedResource(definition: Definition): Resource | undefined {
  const { group, scope, names } = definition.spec;
  const version = servedVersion(definition);
  if (!version || !isEstablished(definition)) return undefined;
  const { plural, kind } = names;
  return { group, version: version.name, plural, kind, namespaced: scope === 'Namespaced' };
}

/** How many copies of itself an object of this definition asks for; undefined when the kind has no scale. */
export function scaleOf(definition: Definition, object: KubeObject): number | undefined {
  const path = servedVersion(definition)?.subresources?.scale?.specReplicasPath;
  return path === undefined ? undefined : Number(fieldText(object, path.replace(/^\./, '')) || 0);
}

/** The stored one needs no conversion. */
function servedVersion({ spec }: Definition): DefinedVersion | undefined {
  const served = spec.versions.filter((version) => version.served);
  return served.find(({ storage }) => storage) ?? served[0];
}

function isEstablished({ status }: Definition): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
}
