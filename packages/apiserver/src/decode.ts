/** From the body of a request to an object of the kind the path names, or a refusal that says why not. */
import { isFault } from '@hutch/base';
import {
  type ApiRequest,
  apiVersionOf,
  type DraftMeta,
  invalid,
  type Resource,
  StatusFault,
  statusFault,
} from '@hutch/kube-meta';
import { goInternalType, goType, goTypeName } from './go-types.ts';
import { isObject, type JsonObject } from './json.ts';
import { duplicateFields, jsonProblem, parseMerged } from './json-text.ts';
import type { Kind } from './kinds/kind.ts';
import { readMetadata } from './metadata.ts';
import type { FieldValidation } from './options.ts';
import { named } from './output/negotiate.ts';
import { invalidValue } from './problems.ts';
import { type Envelope, objectIn, openEnvelope, protobufMediaType } from './protobuf/envelope.ts';
import type { ResourceTarget } from './request-target.ts';
import { kindTypes } from './schema/structures/index.gen.ts';

/** An object as a client sent it: of the right kind, its metadata well-formed, all else still unread. */
export interface AskedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: DraftMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** How strict to be about what a body has too much, and where to tell when it is not refused. */
export interface Strictness {
  readonly fieldValidation: FieldValidation;
  readonly warnings: string[];
}

/** What must be known of a kind to read a body of it. */
export type Decodable = Pick<Kind, 'resource' | 'decode' | 'unknownFields' | 'isCustom'>;

interface Body {
  readonly value: unknown;
  readonly text: string;
}

/** The media type of a header without its parameters; absent is JSON. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() || 'application/json';
}

export function unsupportedMediaType(accepted: readonly string[]): Error {
  const list = accepted.join(', ');
  const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
  return statusFault('unsupportedMediaType', message);
}

/** A body that is JSON, or an `invalid` fault. Where it came as a value, its text is made when a message needs it. */
function parsedBody({ body, bodyText }: ApiRequest): Body {
  if (bodyText === undefined && body !== undefined) {
    return {
      value: body,
      get text() {
        return JSON.stringify(body);
      },
    };
  }
  const text = bodyText ?? '';
  try {
    return { value: JSON.parse(text) as unknown, text };
  } catch {
    throw statusFault('badRequest', `json parse error: ${jsonProblem(text)}`);
  }
}

/** The members of the body of a request that is about a thing with this name, `null` counting as none. */
export function decodeBody(request: ApiRequest, typeName: string): JsonObject {
  if (isProtobuf(request))
    return objectIn(openEnvelope(bytesOf(request)), { kind: typeName, apiVersion: 'v1' });
  return decodedBody(request, typeName).value as JsonObject;
}

function isProtobuf({ contentType }: ApiRequest): boolean {
  return mediaType(contentType) === protobufMediaType;
}

function bytesOf({ body }: ApiRequest): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array();
}

function unrecognized(typeName: string, why: string, body: string | Uint8Array): Error {
  const message = `the object provided is unrecognized (must be of type ${typeName}): ${why} (${summary(body)})`;
  return statusFault('badRequest', message);
}

/** What protobuf says it is tells how the rest is read, and how it is refused. */
function protobufObject(request: ApiRequest, kind: Decodable): Body {
  const { resource } = kind;
  const bytes = bytesOf(request);
  let envelope: Envelope;
  try {
    envelope = openEnvelope(bytes);
  } catch (err) {
    if (!isFault(err, 'invalid')) throw err;
    throw unrecognized(resource.kind, err.message, bytes);
  }
  try {
    return {
      value: objectIn(envelope, { kind: resource.kind, apiVersion: apiVersionOf(resource) }),
      text: '',
    };
  } catch (err) {
    if (!isFault(err, 'invalid')) throw err;
    throw notHandled(kind, err.message, envelope.kind || undefined);
  }
}

function decodedBody(request: ApiRequest, typeName: string): Body {
  if (mediaType(request.contentType) !== 'application/json') throw unsupportedMediaType(named);
  const refuse = (why: string, text: string) => unrecognized(typeName, why, text);
  let body: Body;
  try {
    body = parsedBody(request);
  } catch (err) {
    throw refuse(`couldn't get version/kind; ${(err as Error).message}`, request.bodyText ?? '');
  }
  const { value } = body;
  if (value === null) return { value: {}, text: body.text };
  const problem = isObject(value)
    ? typeProblem(value)
    : `cannot unmarshal ${goType(value)} into Go value of type ${goTypeMeta}`;
  if (problem !== undefined) {
    throw refuse(`couldn't get version/kind; json parse error: json: ${problem}`, body.text);
  }
  const { apiVersion } = value as JsonObject;
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    throw refuse(`unexpected GroupVersion string: ${apiVersion}`, body.text);
  }
  return body;
}

const goTypeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function typeProblem(body: JsonObject): string | undefined {
  const wrong = ['apiVersion', 'kind'].find(
    (field) => body[field] !== undefined && body[field] !== null && typeof body[field] !== 'string',
  );
  return wrong && `cannot unmarshal ${goType(body[wrong])} into Go struct field .${wrong} of type string`;
}

const summaryLength = 30;

function summary(body: string | Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const bytes = Buffer.from(body as string);
  const cut = bytes.subarray(0, summaryLength);
  const tail = bytes.length > summaryLength ? ' ...' : '';
  return (cut.toString('latin1').startsWith('{') ? cut.toString() : cut.toString('hex')) + tail;
}

/** The whole object of a create or an update. */
export function decodeObject(
  request: ApiRequest,
  { kind, target }: { kind: Decodable; target: ResourceTarget },
  strictness: Strictness,
): AskedObject {
  // Custom kinds have no numbers for their members, so they cannot come as protobuf.
  const isBinary = isProtobuf(request) && !kind.isCustom;
  const { value, text } = isBinary ? protobufObject(request, kind) : decodedBody(request, kind.resource.kind);
  // A body that came as a value has each member once.
  const duplicates = request.bodyText === undefined ? [] : duplicateFields(request.bodyText);
  const isMerged = duplicates.length > 0 && !kind.isCustom;
  const body = (isMerged ? parseMerged(text) : value) as JsonObject;
  checkType(body, kind, text);
  const read = readObject(body, kind);
  tellStrictProblems(strictProblems(body, kind, duplicates, strictness), strictness, (problem) =>
    notHandled(kind, problem),
  );
  return inNamespace(read, target);
}

/** What a patch has made of an object. Nobody sent it as a whole, so it is refused in other words. */
export function decodePatched(
  value: unknown,
  { kind, target }: { kind: Decodable; target: ResourceTarget },
  { duplicates, ...strictness }: Strictness & { duplicates: readonly string[] },
): AskedObject {
  const refuse = (why: string) => {
    const problem = invalidValue('patch', JSON.stringify(value), why);
    return invalid({ group: '', plural: '', kind: '' }, '', [problem]);
  };
  const body = isObject(value) ? value : {};
  const { resource, isCustom = false } = kind;
  if (isCustom && textOf(body.kind) !== '' && textOf(body.apiVersion) !== apiVersionOf(resource)) {
    const problem = invalidValue('apiVersion', textOf(body.apiVersion), `must be ${apiVersionOf(resource)}`);
    throw invalid(resource, target.name ?? '', [problem]);
  }
  let read: AskedObject;
  try {
    checkType(body, kind, JSON.stringify(value));
    read = readObject(body, kind);
  } catch (err) {
    // A version or kind that was patched away is refused as such; what cannot be read, as a broken patch.
    if (!isFault(err, 'invalid') || !(err instanceof StatusFault) || err.status.code !== 400) throw err;
    throw refuse(err.message.replace(/^.*? cannot be handled as a \w+: /, ''));
  }
  tellStrictProblems(strictProblems(body, kind, duplicates, strictness), strictness, refuse);
  checkName(read, target.name ?? '');
  return inNamespace(read, target);
}

function strictProblems(
  body: JsonObject,
  kind: Decodable,
  duplicates: readonly string[],
  { fieldValidation }: Pick<Strictness, 'fieldValidation'>,
): string[] {
  if (fieldValidation === 'Ignore') return [];
  return [
    ...duplicates.map((field) => `duplicate field ${JSON.stringify(field)}`),
    ...(kind.unknownFields?.(body) ?? []).map((field) => `unknown field ${JSON.stringify(field)}`),
  ];
}

function tellStrictProblems(
  problems: readonly string[],
  { fieldValidation, warnings }: Strictness,
  refuse: (why: string) => Error,
): void {
  if (problems.length === 0) return;
  if (fieldValidation === 'Strict') throw refuse(`strict decoding error: ${problems.join(', ')}`);
  // A patch that has to be applied again says it once.
  for (const problem of problems) if (!warnings.includes(problem)) warnings.push(problem);
}

function notHandled(
  { resource }: Decodable,
  why: string,
  given: string = resource.kind,
  version?: string,
): Error {
  const message = `${given} in version "${version ?? resource.version}" cannot be handled as a ${resource.kind}: ${why}`;
  return statusFault('badRequest', message);
}

function checkType(body: JsonObject, kind: Decodable, text: string): void {
  const { resource, isCustom = false } = kind;
  const expected = apiVersionOf(resource);
  const apiVersion = textOf(body.apiVersion);
  const kindName = textOf(body.kind);
  if (isCustom) {
    checkCustomType({ apiVersion, kindName, body, text }, resource);
    return;
  }
  const given = apiVersion || expected;
  if (given === expected && (kindName || resource.kind) === resource.kind) return;
  const name = kindName || resource.kind;
  const why = isKnownType(given, name)
    ? `converting (${goTypeName(given, name)}) to (${goInternalType(resource)}): unknown conversion`
    : `no kind "${name}" is registered for version "${given}" in scheme "pkg/runtime/scheme.go:111"`;
  throw notHandled(kind, why, name, given.slice(given.indexOf('/') + 1));
}

function isKnownType(apiVersion: string, kind: string): boolean {
  return Object.hasOwn(kindTypes, `${apiVersion}/${kind}`);
}

interface GivenType {
  readonly apiVersion: string;
  readonly kindName: string;
  readonly body: JsonObject;
  readonly text: string;
}

/** Custom kinds have no defaults for what they are. */
function checkCustomType({ apiVersion, kindName, body, text }: GivenType, resource: Resource): void {
  const expected = apiVersionOf(resource);
  if (kindName === '') {
    const why = `Object 'Kind' is missing in '${text}'`;
    const message = `the object provided is unrecognized (must be of type ${resource.kind}): ${why} (${summary(text)})`;
    throw statusFault('badRequest', message);
  }
  if (apiVersion !== expected) {
    const message = `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
    throw statusFault('badRequest', message);
  }
  if (kindName !== resource.kind) {
    const name = isObject(body.metadata) ? textOf(body.metadata.name) : '';
    const problem = invalidValue('kind', kindName, `must be ${resource.kind}`);
    throw invalid({ ...resource, kind: kindName }, name, [problem]);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readObject(body: JsonObject, kind: Decodable): AskedObject {
  const content = kind.decode ? kind.decode(body) : body;
  let metadata: DraftMeta;
  try {
    metadata = readMetadata(content.metadata);
  } catch (err) {
    if (!isFault(err, 'invalid')) throw err;
    throw notHandled(kind, err.message);
  }
  const { resource } = kind;
  return { ...content, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}

/** The body and the path must speak of the same namespace. */
function inNamespace(object: AskedObject, { namespace }: ResourceTarget): AskedObject {
  const { namespace: given, ...metadata } = object.metadata;
  if (namespace === undefined) return { ...object, metadata };
  if (given !== undefined && given !== namespace) {
    const message = 'the namespace of the provided object does not match the namespace sent on the request';
    throw statusFault('badRequest', message);
  }
  return { ...object, metadata: { ...metadata, namespace } };
}

/** An update is of the object its path names. */
export function checkName({ metadata }: AskedObject, name: string): void {
  if (metadata.name === undefined) {
    const message = `the name of the object (${name} based on URL) was undeterminable: name must be provided`;
    throw statusFault('badRequest', message);
  }
  if (metadata.name !== name) {
    const message = `the name of the object (${metadata.name}) does not match the name on the URL (${name})`;
    throw statusFault('badRequest', message);
  }
}
