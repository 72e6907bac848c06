/** What every namespace is given: an account for its pods, and the authority they check the server by. */
import {
  type ConfigMap,
  type Draft,
  isTerminating,
  jsonEquals,
  type Namespace,
  type ServiceAccount,
} from '@hutch/kube-meta';

export const defaultAccountName = 'default';
export const rootCaName = 'kube-root-ca.crt';

const descriptionKey = 'kubernetes.io/description';
const description = 'the authority that signs the certificate of this API server, for clients inside pods';

export interface Observed {
  readonly namespace: Namespace;
  readonly account: ServiceAccount | undefined;
  readonly rootCaMap: ConfigMap | undefined;
  /** PEM. Without one no map is kept, and pods are given no token. */
  readonly rootCa: string | undefined;
}

export type Action =
  | { readonly type: 'create-account'; readonly draft: Draft<ServiceAccount> }
  | { readonly type: 'create-map'; readonly draft: Draft<ConfigMap> }
  | { readonly type: 'write-map'; readonly map: ConfigMap };

export function decide({ namespace, account, rootCaMap, rootCa }: Observed): readonly Action[] {
  if (isTerminating(namespace)) return [];
  const actions: Action[] = [];
  if (!account) actions.push({ type: 'create-account', draft: desiredAccount(namespace, rootCa) });
  if (rootCa !== undefined) {
    const data = { 'ca.crt': rootCa };
    if (!rootCaMap) actions.push({ type: 'create-map', draft: desiredMap(namespace, data) });
    else if (!isSound(rootCaMap, data)) actions.push({ type: 'write-map', map: mended(rootCaMap, data) });
  }
  return actions;
}

/** Pods that cannot check the server are given no token for it either: they might show it to anybody. */
function desiredAccount({ metadata }: Namespace, rootCa: string | undefined): Draft<ServiceAccount> {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: metadata.name, name: defaultAccountName },
    ...(rootCa === undefined ? { automountServiceAccountToken: false } : {}),
  };
}

function desiredMap({ metadata }: Namespace, data: Record<string, string>): Draft<ConfigMap> {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace: metadata.name,
      name: rootCaName,
      annotations: { [descriptionKey]: description },
    },
    data,
  };
}

/** The text of the description is free: only a missing one is put back. */
function isSound({ data: found, metadata }: ConfigMap, data: Record<string, string>): boolean {
  return jsonEquals(found, data) && Boolean(metadata.annotations?.[descriptionKey]);
}

function mended(map: ConfigMap, data: Record<string, string>): ConfigMap {
  const annotations = { ...map.metadata.annotations, [descriptionKey]: description };
  return { ...map, metadata: { ...map.metadata, annotations }, data };
}
