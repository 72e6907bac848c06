/** From the body of a request to an object of the kind the path names, or a refusal that says why not. */
import { type ApiRequest, apiVersionOf, type DraftMeta, statusFault } from '@hutch/kube-meta';
import { isObject, type JsonObject } from './json.ts';
import type { Kind } from './kinds/kind.ts';
import { readMetadata } from './metadata.ts';
import type { ResourceTarget } from './request-target.ts';

/** An object as a client sent it: of the right kind, its metadata well-formed, all else still unread. */
export interface AskedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: DraftMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

const mergePatchType = 'application/merge-patch+json';

/** The media type of a header without its parameters; absent is JSON. */
function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() || 'application/json';
}

function unsupportedMediaType(accepted: string): Error {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return statusFault('unsupportedMediaType', message);
}

export function decodeBody(request: ApiRequest): JsonObject {
  const type = mediaType(request.contentType);
  // Clients that send a body from a tool without saying what it is are understood, as by Kubernetes.
  if (type !== 'application/json' && type !== '*/*') throw unsupportedMediaType('application/json');
  if (request.body === undefined) throw statusFault('badRequest', 'the request has no body');
  if (!isObject(request.body))
    throw statusFault('badRequest', 'the body of the request is not a JSON object');
  return request.body;
}

export function decodeMergePatch(request: ApiRequest): JsonObject {
  if (mediaType(request.contentType) !== mergePatchType) throw unsupportedMediaType(mergePatchType);
  if (!isObject(request.body)) throw statusFault('badRequest', 'the patch is not a JSON object');
  return request.body;
}

/** Checks that a body is an object of this kind, and that it and the path speak of the same one. */
export function decodeObject(body: JsonObject, kind: Kind, target: ResourceTarget): AskedObject {
  const expected = apiVersionOf(kind.resource);
  const { apiVersion = expected, kind: kindName = kind.resource.kind } = body;
  if (kindName !== kind.resource.kind) {
    const message = `${String(kindName)} in version "${String(apiVersion)}" cannot be handled as a ${kind.resource.kind}`;
    throw statusFault('badRequest', message);
  }
  if (apiVersion !== expected) {
    const message = `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`;
    throw statusFault('badRequest', message);
  }

  const metadata = readMetadata(body.metadata);
  const { namespace, name } = target;
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    const message = 'the namespace of the provided object does not match the namespace sent on the request';
    throw statusFault('badRequest', message);
  }
  if (name !== undefined && metadata.name !== undefined && metadata.name !== name) {
    const message = `the name of the object (${metadata.name}) does not match the name on the URL (${name})`;
    throw statusFault('badRequest', message);
  }
  return {
    ...body,
    apiVersion: expected,
    kind: kind.resource.kind,
    metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }) },
  };
}
