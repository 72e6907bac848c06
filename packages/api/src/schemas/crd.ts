/** Our kinds as CustomResourceDefinitions, made from their schemas. */
import { apiVersionOf, customResourceDefinitions, type Resource } from '@hutch/kube-meta';
import { sandboxes } from '../sandbox.ts';
import { sandboxSchema } from './sandbox.ts';
import { type JsonSchema, structuralSchema } from './structural.ts';

/** A CustomResourceDefinition as far as we write one. */
export interface Crd {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
    };
    readonly scope: 'Namespaced' | 'Cluster';
    readonly versions: readonly CrdVersion[];
  };
}

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources: { readonly status: Record<string, never> };
  readonly additionalPrinterColumns: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
  }[];
}

export function sandboxCrd(): Crd {
  return crd(sandboxes, {
    shortNames: ['sandbox'],
    version: {
      name: sandboxes.version,
      served: true,
      storage: true,
      schema: { openAPIV3Schema: structuralSchema(sandboxSchema) },
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
        { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  });
}

function crd(resource: Resource, options: { shortNames: readonly string[]; version: CrdVersion }): Crd {
  const { group, plural, kind } = resource;
  return {
    apiVersion: apiVersionOf(customResourceDefinitions),
    kind: customResourceDefinitions.kind,
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: options.shortNames,
      },
      scope: 'Namespaced',
      versions: [options.version],
    },
  };
}
