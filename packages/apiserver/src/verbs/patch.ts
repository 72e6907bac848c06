/** Patches: which kind of patch a body is, and what it makes of an object. */
import { isFault } from '@hutch/base';
import { type ApiRequest, jsonPatch, mergePatch, statusFault } from '@hutch/kube-meta';
import { mediaType, unsupportedMediaType } from '../decode.ts';
import { goType } from '../go-types.ts';
import { isObject } from '../json.ts';
import { duplicateFields, jsonProblem } from '../json-text.ts';
import type { Kind } from '../kinds/kind.ts';

const jsonType = 'application/json-patch+json';
const mergeType = 'application/merge-patch+json';
/** Named by refusals, as everywhere; not served yet. */
const applyType = 'application/apply-patch+yaml';

const maxOperations = 10_000;

export interface Patch {
  apply(target: unknown): unknown;
  /** Members the patch names twice, each with what to call it. */
  readonly duplicates: readonly string[];
}

export function readPatch(request: ApiRequest, kind: Kind): Patch {
  // Unlike other bodies a patch must say what it is.
  const type = request.contentType === undefined ? '' : mediaType(request.contentType);
  if (type !== jsonType && type !== mergeType) {
    throw kind.isCustom
      ? unsupportedMediaType([jsonType, mergeType, applyType])
      : statusFault('unsupportedMediaType', '415: Unsupported Media Type', {});
  }
  const body = patchBody(request);
  const duplicates = request.bodyText === undefined ? [] : duplicateFields(request.bodyText);
  return type === jsonType ? jsonPatchOf(body, duplicates) : mergePatchOf(body, duplicates);
}

function patchBody({ body, bodyText }: ApiRequest): unknown {
  if (bodyText === undefined && body !== undefined) return body;
  try {
    return JSON.parse(bodyText ?? '') as unknown;
  } catch {
    throw undecodable(jsonProblem(bodyText ?? ''));
  }
}

function undecodable(why: string): Error {
  return statusFault('badRequest', `error decoding patch: ${why}`);
}

function wrongShape(value: unknown, wanted: string): Error {
  return undecodable(`json: cannot unmarshal ${goType(value)} into Go value of type ${wanted}`);
}

function mergePatchOf(body: unknown, duplicates: readonly string[]): Patch {
  if (!isObject(body) && body !== null) throw wrongShape(body, 'map[string]interface {}');
  if (body === null) throw statusFault('badRequest', 'Invalid JSON Patch');
  return { duplicates, apply: (target) => mergePatch(target, body) };
}

function jsonPatchOf(body: unknown, duplicates: readonly string[]): Patch {
  if (!Array.isArray(body) && body !== null) throw wrongShape(body, '[]handlers.jsonPatchOp');
  const operations: readonly unknown[] = body ?? [];
  const odd = operations.find((operation) => !isObject(operation) && operation !== null);
  if (odd !== undefined) throw wrongShape(odd, 'handlers.jsonPatchOp');
  if (operations.length > maxOperations) {
    const limit = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`;
    throw statusFault('tooLarge', `Request entity too large: ${limit}`);
  }
  const apply = (target: unknown) => {
    try {
      return jsonPatch(target, operations);
    } catch (err) {
      if (!isFault(err, 'invalid')) throw err;
      const message = 'the server rejected our request due to an error in our request';
      throw statusFault('invalid', message, {}, err);
    }
  };
  return { duplicates: duplicates.map((field) => `json patch ${field}`), apply };
}
