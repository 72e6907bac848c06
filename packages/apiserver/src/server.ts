/**
 * The API server: a function from a request value to a response value. Doors (HTTP, in process) bring requests;
 * this file is the one way every request takes:
 *
 *   authenticate → authorise → decode → admit → validate → store → respond
 *
 * The verbs in `verbs/` say what a write makes of an object; they are pure, and run inside the storage's write,
 * on the newest state there is. So a patch never has to be tried again, and what is validated is what is stored.
 */
import { type Clock, isFault, type Log, messageOf } from '@hutch/base';
import {
  type ApiRequest,
  type ApiResponse,
  alreadyExists,
  apiVersionOf,
  type Handle,
  invalid,
  isTerminating,
  type KubeObject,
  mergePatch,
  namespaces,
  notFound,
  type ObjectList,
  type Pod,
  type ResponseObject,
  type Status,
  StatusFault,
  statusFault,
} from '@hutch/kube-meta';
import type { Storage } from '@hutch/storage';
import type { Authenticator } from './access/authentication.ts';
import { type Authorizer, attributesOf, forbidden } from './access/authorization.ts';
import { reviewKinds } from './access/reviews.ts';
import { type AskedObject, decodeBody, decodeMergePatch, decodeObject } from './decode.ts';
import { describePath } from './discovery.ts';
import { isObject } from './json.ts';
import { builtinKinds } from './kinds/builtin.ts';
import {
  type ApiObject,
  hasStatus,
  type Kind,
  storageKey,
  storagePrefix,
  storedApiVersion,
  type Verb,
} from './kinds/kind.ts';
import { createRegistry } from './kinds/registry.ts';
import { generatedName, nameRequired } from './metadata.ts';
import type { NodeStreams } from './node-streams.ts';
import { isDryRun, readBoolean, readInteger, readMatcher, readResourceVersion } from './query.ts';
import { type ResourceTarget, targetOf } from './request-target.ts';
import { tidy } from './tidy.ts';
import { bindPod } from './verbs/bind.ts';
import { type Change, withMetadata } from './verbs/change.ts';
import { createObject } from './verbs/create.ts';
import { deleteObject, readDeleteOptions } from './verbs/delete.ts';
import { streamLog } from './verbs/log.ts';
import { finalizeNamespace, updateObject } from './verbs/update.ts';
import { watchObjects } from './verbs/watch.ts';

/** Shows an object in another version of its kind. Both versions are served by one definition. */
export type Converter = (object: KubeObject, apiVersion: string) => KubeObject;

export interface ApiServerDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Used by the HTTP door and by TokenReview. */
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly log: Log;
  /** Without it, versions of a kind differ in nothing but their name. */
  readonly convert?: Converter;
  readonly nodeStreams?: NodeStreams;
}

export interface ApiServer {
  /** The in-process door. The HTTP door is `serveHttp` and `serveHttps`. */
  readonly handle: Handle;
  readonly authenticator: Authenticator;
  readonly log: Log;
  /** Forgets what has had its time (events), until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createApiServer(deps: ApiServerDeps): ApiServer {
  const { storage, clock, authenticator, authorizer, log, convert, nodeStreams } = deps;
  const kinds = [...builtinKinds, ...reviewKinds({ authenticator, authorizer })];
  const registry = createRegistry(storage, kinds);

  async function handle(request: ApiRequest): Promise<ApiResponse> {
    try {
      return await answer(request);
    } catch (err) {
      const status = statusOf(err);
      if (status.code >= 500)
        log.error('request failed', { method: request.method, path: request.path, err });
      return respond(status.code, status);
    }
  }

  async function answer(request: ApiRequest): Promise<ApiResponse> {
    // Authenticate: the door has. Every request comes with its user, also in process.
    const { user } = request;

    // Authorise: before anything is looked up, so that a refusal tells nothing about what exists.
    const target = targetOf(request);
    const attributes = attributesOf(target, user);
    const verdict = authorizer(attributes);
    if (!verdict.isAllowed) throw forbidden(attributes, verdict.reason);

    if (target.type === 'path') {
      const found = target.verb === 'get' ? describePath(target.path, registry.all) : undefined;
      if (found === undefined) throw nothingThere();
      return respond(200, found);
    }
    const kind = servedKind(target);
    switch (target.verb) {
      case 'get':
        return get(request, kind, target);
      case 'list':
        return list(request, kind, target);
      case 'watch':
        return watch(request, kind, target);
      case 'create':
        if (target.subresource === 'binding') return bind(request, kind, target);
        return kind.review ? review(request, kind, target) : create(request, kind, target);
      case 'update':
      case 'patch':
        return update(request, kind, target);
      case 'delete':
        return remove(request, kind, target);
      default:
        throw notAllowed();
    }
  }

  /** The kind a path names, if it is served there with this verb and in this scope. */
  function servedKind(target: ResourceTarget): Kind {
    const kind = registry.find(target);
    const { subresource, verb, namespace } = target;
    if (!kind || (subresource !== undefined && !kind.subresources.includes(subresource)))
      throw nothingThere();
    if (namespace !== undefined && !kind.resource.namespaced) throw nothingThere();
    const needsNamespace = kind.resource.namespaced && verb !== 'list' && verb !== 'watch';
    if (needsNamespace && namespace === undefined) throw notAllowed();
    if (!isVerbServed(kind, target)) throw notAllowed();
    const isOnCollection =
      ['list', 'watch'].includes(verb) || (verb === 'create' && subresource === undefined);
    if (!isOnCollection && target.name === undefined) throw notAllowed();
    if (verb === 'create' && isOnCollection && target.name !== undefined) throw notAllowed();
    return kind;
  }

  // ---- reading ------------------------------------------------------------------------------------------

  /** Objects are stored in one version and shown in the one that was asked for. */
  function shownIn(kind: Kind): (object: ApiObject) => ApiObject {
    return (object) => converted(object, apiVersionOf(kind.resource));
  }

  function converted(object: ApiObject, apiVersion: string): ApiObject {
    if (object.apiVersion === apiVersion) return object;
    return convert ? convert(object, apiVersion) : { ...object, apiVersion };
  }

  function get(request: ApiRequest, kind: Kind, target: ResourceTarget): ApiResponse {
    const name = target.name ?? '';
    const entry = storage.get(storageKey(kind, { ...target, name }));
    if (!entry) throw notFound(kind.resource, name);
    if (target.subresource === 'log') return streamLog(entry.value as Pod, request, nodeStreams);
    return respond(200, shownIn(kind)(entry.value as ApiObject));
  }

  function list({ query }: ApiRequest, kind: Kind, target: ResourceTarget): ApiResponse {
    const matches = readMatcher(query, kind);
    const { entries, revision } = storage.list(storagePrefix(kind, target.namespace));
    const wanted = readResourceVersion(query);
    if (wanted !== undefined && wanted > revision) {
      throw statusFault('timeout', `Too large resource version: ${wanted}, current: ${revision}`, {
        retryAfterSeconds: 1,
      });
    }
    const shown = shownIn(kind);
    const found: ObjectList = {
      kind: kind.listKind,
      apiVersion: apiVersionOf(kind.resource),
      metadata: { resourceVersion: String(revision) },
      items: entries
        .map(({ value }) => value as ApiObject)
        .filter(matches)
        .map(shown),
    };
    return respond(200, found);
  }

  function watch({ query, signal }: ApiRequest, kind: Kind, target: ResourceTarget): ApiResponse {
    const seconds = readInteger(query, 'timeoutSeconds');
    // Without a wish a watch ends after 30 to 60 minutes: clients spread their coming back, none stays for ever.
    const timeoutMs =
      seconds === undefined || seconds <= 0 ? 1_800_000 * (1 + Math.random()) : seconds * 1000;
    const sendsInitial = readBoolean(query, 'sendInitialEvents');
    const from = readResourceVersion(query);
    const wantsBookmarks = readBoolean(query, 'allowWatchBookmarks');
    const { kind: kindName } = kind.resource;
    const events = watchObjects(storage, clock, {
      prefix: storagePrefix(kind, target.namespace),
      from: sendsInitial ? undefined : from,
      matches: readMatcher(query, kind),
      shown: shownIn(kind),
      timeoutMs,
      bookmarks: wantsBookmarks ? { kind: kindName, apiVersion: apiVersionOf(kind.resource) } : undefined,
      marksInitialEvents: sendsInitial,
      signal,
    });
    return { type: 'watch', events };
  }

  // ---- writing ------------------------------------------------------------------------------------------

  async function create(request: ApiRequest, kind: Kind, target: ResourceTarget): Promise<ApiResponse> {
    // Decode.
    const draft = decodeObject(decodeBody(request), kind, target);
    if (draft.metadata.resourceVersion !== undefined) {
      throw statusFault('badRequest', 'resourceVersion should not be set on objects to be created');
    }
    const name = chosenName(draft, kind, target);
    const dryRun = isDryRun(request.query);

    // Admit, validate and store, against what is there when it is this write's turn.
    const object = await write(kind, { ...target, name }, dryRun, (old) => {
      admitToNamespace(kind, target.namespace, name);
      if (old) throw alreadyExists(kind.resource, name);
      return { type: 'put', object: createObject(draft, kind, { name, now: clock.now() }) };
    });
    return respond(201, object);
  }

  async function update(request: ApiRequest, kind: Kind, target: ResourceTarget): Promise<ApiResponse> {
    const { subresource, verb } = target;
    const name = target.name ?? '';
    const patch = verb === 'patch' ? decodeMergePatch(request) : undefined;
    const body = patch ? undefined : decodeObject(decodeBody(request), kind, target);
    const dryRun = isDryRun(request.query);

    const object = await write(kind, { ...target, name }, dryRun, (old) => {
      if (!old) throw notFound(kind.resource, name);
      const asked = body ?? patched(old, patch, kind, target);
      if (subresource === 'finalize') return finalizeNamespace(old, kind, asked);
      return updateObject(old, kind, { asked, subresource, now: clock.now() });
    });
    return respond(200, object);
  }

  async function bind(request: ApiRequest, kind: Kind, target: ResourceTarget): Promise<ApiResponse> {
    const name = target.name ?? '';
    const body = decodeBody(request);
    const asked = decodeObject(
      { ...body, kind: kind.resource.kind, apiVersion: apiVersionOf(kind.resource) },
      kind,
      target,
    );
    await write(kind, { ...target, name }, isDryRun(request.query), (old) => {
      if (!old) throw notFound(kind.resource, name);
      return bindPod(old, kind, { asked, now: clock.now() });
    });
    return respond(201, success(201));
  }

  async function remove(request: ApiRequest, kind: Kind, target: ResourceTarget): Promise<ApiResponse> {
    const name = target.name ?? '';
    const options = readDeleteOptions(request);
    const count = (prefix: string) => storage.list(prefix).entries.length;
    let change: Change | undefined;
    const object = await write(kind, { ...target, name }, options.isDryRun, (old) => {
      if (!old) throw notFound(kind.resource, name);
      change = deleteObject(old, kind, { options, now: clock.now(), count });
      return change;
    });
    if (change?.type !== 'delete' || kind.returnsDeleted) return respond(200, object);
    const { group, plural } = kind.resource;
    const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid: object.metadata.uid };
    return respond(200, { ...success(200), details });
  }

  /**
   * Decides on an object as its store has it, in the version of the request, and stores the answer. Resolves with
   * what it has become when that is durable.
   */
  async function write(
    kind: Kind,
    at: { namespace?: string; name: string },
    dryRun: boolean,
    decide: (old: ApiObject | undefined) => Change,
  ): Promise<ApiObject> {
    const shown = shownIn(kind);
    let result: ApiObject | undefined;
    await storage.write(storageKey(kind, at), (head, revision) => {
      const { type, object } = decide(head && shown(head.value as ApiObject));
      if (type === 'keep') {
        result = object;
        return { type: 'keep' };
      }
      const stamped = withMetadata(object, {
        resourceVersion: dryRun ? (head ? String(head.revision) : '') : String(revision),
      });
      result = stamped;
      if (dryRun) return { type: 'keep' };
      return { type, value: converted(stamped, storedApiVersion(kind)) };
    });
    return result as ApiObject;
  }

  /** A name the client chose, or one that is still free. */
  function chosenName({ metadata }: AskedObject, kind: Kind, { namespace }: ResourceTarget): string {
    if (metadata.name !== undefined) return metadata.name;
    const { generateName } = metadata;
    if (generateName === undefined) throw invalid(kind.resource, '', [nameRequired()]);
    const scope = namespace === undefined ? {} : { namespace };
    for (let attempt = 0; attempt < 8; attempt++) {
      const name = generatedName(generateName);
      if (!storage.get(storageKey(kind, { ...scope, name }))) return name;
    }
    throw alreadyExists(kind.resource, generateName);
  }

  /** Nothing is created in a namespace that is not there, or is on its way out. */
  function admitToNamespace(kind: Kind, namespace: string | undefined, name: string): void {
    if (namespace === undefined) return;
    const entry = storage.get(`${storagePrefix(namespaceKind)}${namespace}`);
    if (!entry) throw notFound(namespaces, namespace);
    if (!isTerminating(entry.value as ApiObject)) return;
    const { group, plural } = kind.resource;
    const what = group === '' ? plural : `${plural}.${group}`;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    throw statusFault('forbidden', `${what} "${name}" is forbidden: ${why}`, {
      name,
      ...(group === '' ? {} : { group }),
      kind: plural,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    });
  }

  function patched(old: ApiObject, patch: unknown, kind: Kind, target: ResourceTarget): AskedObject {
    const merged = mergePatch(old, patch);
    if (!isObject(merged)) throw statusFault('badRequest', 'the patch leaves no object');
    return decodeObject(merged, kind, target);
  }

  async function review(request: ApiRequest, kind: Kind, target: ResourceTarget): Promise<ApiResponse> {
    const { apiVersion, kind: kindName, spec } = decodeObject(decodeBody(request), kind, target);
    const asked = { apiVersion, kind: kindName, metadata: { creationTimestamp: null }, spec };
    const status = await kind.review?.(asked as unknown as ApiObject, request.user);
    return respond(201, { ...asked, status } as ResponseObject);
  }

  return { handle, authenticator, log, run: (signal) => tidy({ storage, clock, log, kinds }, signal) };
}

const namespaceKind = builtinKinds.find(({ resource }) => resource === namespaces) as Kind;

function isVerbServed(kind: Kind, { verb, subresource }: ResourceTarget): boolean {
  switch (subresource) {
    case undefined:
      return kind.verbs.includes(verb as Verb);
    case 'status':
      return hasStatus(kind) && ['get', 'update', 'patch'].includes(verb);
    case 'finalize':
      return verb === 'update';
    case 'log':
      return verb === 'get';
    case 'binding':
      return verb === 'create';
    default:
      return false;
  }
}

function respond(status: number, object: ResponseObject): ApiResponse {
  return { type: 'object', status, object };
}

function success(code: number): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
}

function nothingThere(): Error {
  return statusFault('notFound', 'the server could not find the requested resource', {});
}

function notAllowed(): Error {
  return statusFault(
    'methodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}

/** Every failure becomes a Status here, once. What nobody expected is a bug of ours, never of the caller. */
function statusOf(err: unknown): Status {
  if (err instanceof StatusFault) return err.status;
  if (isFault(err, 'invalid')) return statusFault('badRequest', err.message).status;
  if (isFault(err, 'expired')) return statusFault('expired', err.message).status;
  if (isFault(err, 'unavailable')) return statusFault('unavailable', err.message).status;
  if (isFault(err, 'queue-full', 'too-many-requests')) {
    return statusFault('tooManyRequests', err.message, { retryAfterSeconds: 1 }).status;
  }
  if (err instanceof RangeError && err.message.includes('call stack')) {
    return statusFault('badRequest', 'the object is nested too deeply').status;
  }
  return statusFault('internal', `Internal error occurred: ${messageOf(err)}`).status;
}
