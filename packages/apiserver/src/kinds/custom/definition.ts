/** A CustomResourceDefinition, as its structure guarantees it. */
import type { Resource } from '@hutch/kube-meta';
import type { Schema } from '../../schema/schema.ts';
import type { ApiObject, PrinterColumn, ScalePaths } from '../kind.ts';

export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface Names {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface WebhookClient {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  readonly caBundle?: string;
}

export interface Conversion {
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig?: WebhookClient;
    readonly conversionReviewVersions?: readonly string[] | null;
  };
}

export interface DefinitionSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: Names;
  readonly versions: readonly DefinedVersion[] | null;
  readonly conversion?: Conversion;
  readonly preserveUnknownFields?: boolean;
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface DefinitionStatus {
  readonly conditions?: readonly DefinitionCondition[] | null;
  readonly acceptedNames?: Names;
  readonly storedVersions?: readonly string[] | null;
}

export interface Definition extends ApiObject {
  readonly spec: DefinitionSpec;
  readonly status?: DefinitionStatus;
}

export function versionsOf({ spec }: Definition): readonly DefinedVersion[] {
  return spec.versions ?? [];
}

export function conditionOf({ status }: Definition, type: string): DefinitionCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(definition: Definition, type: string): boolean {
  return conditionOf(definition, type)?.status === 'True';
}

/** The resource a definition defines, in one of its versions. */
export function definedResource({ spec }: Definition, version: string): Resource {
  const { group, names, scope } = spec;
  return { group, version, plural: names.plural, kind: names.kind, namespaced: scope === 'Namespaced' };
}
