/** Makes a built-in kind of what is special about it: its structure is known, the rest is what most kinds do. */
import { isFault } from '@hutch/base';
import { apiVersionOf, dnsSubdomainProblems, type Resource, statusFault } from '@hutch/kube-meta';
import { type JsonObject, omit } from '../json.ts';
import type { Problem } from '../problems.ts';
import { kindTypes } from '../schema/structures/index.gen.ts';
import { readTyped, type TypeDefaults, type Typed } from '../schema/typed.ts';
import { eachOf, finalizerNameProblems } from './checks.ts';
import type { ApiObject, Kind } from './kind.ts';
import { typeDefaults } from './type-defaults.ts';

export interface Entry extends Partial<Omit<Kind, 'resource' | 'normalise' | 'decode' | 'unknownFields'>> {
  /** Fills in what the kind defaults; its argument has the structure of the kind. */
  readonly defaults?: (object: ApiObject) => ApiObject;
}

export function builtinKind(resource: Resource, { defaults, ...entry }: Entry): Kind {
  const typed = reader(resource);
  return {
    resource,
    singular: resource.kind.toLowerCase(),
    listKind: `${resource.kind}List`,
    shortNames: [],
    categories: [],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
    subresources: [],
    storedVersion: resource.version,
    selectableFields: [],
    nameProblems: dnsSubdomainProblems,
    hasGeneration: false,
    allowsUnconditionalUpdate: true,
    statusWritesMetadata: true,
    returnsDeleted: false,
    ...entry,
    validate: (object, old) => [
      ...finalizerProblems(object),
      ...(old ? finalizerProblems(object) : []), // told twice of a change, as Kubernetes does
      ...(entry.validate?.(object, old) ?? []),
    ],
    decode: (body) => typed(body).value,
    unknownFields: (body) => typed(body).unknown,
    normalise: (object) => {
      const { apiVersion, kind, metadata } = object;
      const content = typed(omit(object, 'metadata'), typeDefaults).value;
      const whole = { ...content, apiVersion, kind, metadata } as ApiObject;
      return defaults ? defaults(whole) : whole;
    },
  };
}

function finalizerProblems({ metadata }: ApiObject): Problem[] {
  return eachOf(metadata.finalizers, 'metadata.finalizers', (name, at) => finalizerNameProblems(at, name));
}

/** Reads bodies of a kind; one that cannot be of it is a bad request that says why. */
function reader(resource: Resource): (body: JsonObject, defaults?: TypeDefaults) => Typed {
  const type = kindTypes[`${apiVersionOf(resource)}/${resource.kind}`];
  return (body, defaults) => {
    if (type === undefined) throw new Error(`no structure of kind ${resource.kind}`);
    try {
      return readTyped(body, type, defaults);
    } catch (err) {
      if (!isFault(err, 'invalid')) throw err;
      const { kind } = resource;
      const message = `${kind} in version "${resource.version}" cannot be handled as a ${kind}: ${err.message}`;
      throw statusFault('badRequest', message, undefined, err);
    }
  };
}
