/** Objects of a kind are stored in one version and shown in the one a request is about. */
import { apiVersionOf, type KubeObject } from '@hutch/kube-meta';
import { type ApiObject, type Kind, storedApiVersion } from './kinds/kind.ts';

/** Shows an object in another version of its kind. Both versions are served by one definition. */
export type Converter = (object: KubeObject, apiVersion: string) => KubeObject;

export interface Conversion {
  /** Stored objects as the kind's version shows them. Asks outside only for kinds that need it. */
  shown(kind: Kind, objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]>;
  /** The same for kinds that never ask outside. */
  shownNow(kind: Kind, object: ApiObject): ApiObject;
  storedNow(kind: Kind, object: ApiObject): ApiObject;
  stored(kind: Kind, object: ApiObject): Promise<ApiObject>;
}

export function createConversion(convert: Converter | undefined): Conversion {
  function converted(kind: Kind, object: ApiObject, apiVersion: string): ApiObject {
    if (object.apiVersion === apiVersion) return object;
    if (kind.shownAs) return kind.shownAs(object, apiVersion);
    return convert ? convert(object, apiVersion) : { ...object, apiVersion };
  }

  const shownNow = (kind: Kind, object: ApiObject) =>
    converted(kind, kind.read ? kind.read(object) : object, apiVersionOf(kind.resource));

  async function asked(
    kind: Kind & { convert: NonNullable<Kind['convert']> },
    objects: readonly ApiObject[],
    apiVersion: string,
  ): Promise<readonly ApiObject[]> {
    const others = objects.filter((object) => object.apiVersion !== apiVersion);
    if (others.length === 0) return objects;
    const answers = await kind.convert(others, apiVersion);
    const byOld = new Map(others.map((object, index) => [object, answers[index]]));
    return objects.map((object) => byOld.get(object) ?? object);
  }

  return {
    shownNow,
    storedNow: (kind, object) => converted(kind, object, storedApiVersion(kind)),
    shown(kind, objects) {
      const read = kind.read ? objects.map(kind.read) : objects;
      return asksOutside(kind)
        ? asked(kind, read, apiVersionOf(kind.resource))
        : objects.map((object) => shownNow(kind, object));
    },
    async stored(kind, object) {
      if (!asksOutside(kind)) return converted(kind, object, storedApiVersion(kind));
      const [answer] = await asked(kind, [object], storedApiVersion(kind));
      return answer ?? object;
    },
  };
}

export function asksOutside(kind: Kind): kind is Kind & { convert: NonNullable<Kind['convert']> } {
  return kind.convert !== undefined;
}
