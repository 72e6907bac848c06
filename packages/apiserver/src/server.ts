/**
 * The API server: a function from a request value to a response value. Doors (HTTP, in process) bring requests;
 * this file is the one way every request takes:
 *
 *   authenticate → authorise → decode → admit → validate → store → respond
 *
 * The verbs in `verbs/` say what a write makes of an object; they are pure, and run inside the storage's write,
 * on the newest state there is. So a patch never has to be tried again, and what is validated is what is stored.
 */
import { type Clock, Fault, ignoring, isFault, type Log } from '@hutch/base';
import {
  type ApiRequest,
  type ApiResponse,
  apiVersionOf,
  type Handle,
  isTerminating,
  namespaces,
  notFound,
  type ObjectKey,
  type ObjectList,
  type Pod,
  podDisruptionBudgets,
  pods,
  type ResponseObject,
  StatusFault,
  statusFault,
} from '@hutch/kube-meta';
import type { Storage } from '@hutch/storage';
import type { Authenticator } from './access/authentication.ts';
import { type Authorizer, attributesOf, forbidden } from './access/authorization.ts';
import { reviewKinds } from './access/reviews.ts';
import { asksOutside, type Converter, createConversion } from './conversion.ts';
import { type AskedObject, checkName, decodeObject, decodePatched, type Strictness } from './decode.ts';
import { describePath } from './discovery.ts';
import { builtinKinds } from './kinds/builtin.ts';
import type { CallWebhook } from './kinds/custom/conversion.ts';
import { type ApiObject, type Around, type Kind, storageKey, storagePrefix } from './kinds/kind.ts';
import { createRegistry } from './kinds/registry.ts';
import { generatedName } from './metadata.ts';
import type { NodeStreams } from './node-streams.ts';
import { readListOptions, readWatchOptions, readWriteOptions } from './options.ts';
import { negotiateOutput } from './output/negotiate.ts';
import { present } from './output/present.ts';
import { type Matcher, readMatcher, readResourceVersion } from './query.ts';
import {
  checkUnversioned,
  namespaceTerminating,
  noSuchPage,
  noSuchResource,
  notAllowed,
  refusalOf,
  success,
  taken,
  unexplained,
} from './refusals.ts';
import { type ResourceTarget, targetOf } from './request-target.ts';
import { servedKind } from './served-kind.ts';
import { surroundingsOf } from './surroundings.ts';
import { tidy } from './tidy.ts';
import { bindingKind, bindingTarget, bindPod } from './verbs/bind.ts';
import { type Change, withMetadata } from './verbs/change.ts';
import { createObject } from './verbs/create.ts';
import { type DeleteOptions, deleteObject, deleteOptionsOf, readDeleteOptions } from './verbs/delete.ts';
import {
  type Budget,
  budgetsFor,
  evictionKind,
  isFreeToGo,
  isNoLoss,
  markedForEviction,
  spendDisruption,
} from './verbs/evict.ts';
import { listObjects, tooLargeVersion } from './verbs/list.ts';
import { streamLog } from './verbs/log.ts';
import { readPatch } from './verbs/patch.ts';
import { scaledObject, scaleKind, scaleOf, shownScale } from './verbs/scale.ts';
import { finalizeNamespace, updateObject } from './verbs/update.ts';
import { watchObjects } from './verbs/watch.ts';

export interface ApiServerDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Used by the HTTP door and by TokenReview. */
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly log: Log;
  /** Without it, versions of a kind differ in nothing but their name. */
  readonly convert?: Converter;
  /** How the webhooks of definitions are called. Without it, kinds that need one cannot be shown in other versions. */
  readonly callWebhook?: CallWebhook;
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

/** A request that has been let in: what it asks, of which kind, and what its caller should be told besides. */
interface Call {
  readonly request: ApiRequest;
  readonly kind: Kind;
  readonly target: ResourceTarget;
  readonly warnings: string[];
}

/** How often a name is made up before we give in: as often as Kubernetes. */
const maxNameAttempts = 8;

/** How often a write is decided anew because the object changed while somebody outside converted it. */
const maxConversionAttempts = 16;

/** How many objects of a collection are deleted in one go: each waits for the same commit. */
const deletionBatch = 500;

export function createApiServer(deps: ApiServerDeps): ApiServer {
  const { storage, clock, authenticator, authorizer, log, nodeStreams } = deps;
  const kinds = [...builtinKinds, bindingKind, ...reviewKinds({ authenticator, authorizer })];
  const podKind = builtinKinds.find(({ resource }) => resource === pods) as Kind;
  const registry = createRegistry(storage, kinds, deps.callWebhook);
  const conversion = createConversion(deps.convert);
  const reserved = new Set<string>();

  async function handle(request: ApiRequest): Promise<ApiResponse> {
    try {
      return await answer(request);
    } catch (err) {
      return refused(request, err);
    }
  }

  function refused({ method, path }: ApiRequest, err: unknown): ReturnType<typeof refusalOf> {
    const refusal = refusalOf(err);
    if (isOurs(err, refusal.status)) log.error('request failed', { method, path, err });
    return refusal;
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
      const found = describePath(target.path, { kinds: registry.all, accept: request.accept });
      if (!found) throw registry.isNearBuiltin(target.path) ? noSuchResource() : noSuchPage();
      if (!found.methods.includes(request.method)) throw notAllowed();
      return found.answer;
    }

    // Decode, admit, validate and store: what a verb does. It has a kind, and a form its answer is wanted in.
    const kind = servedKind(registry, request, target);
    const { isCustom } = kind;
    const form = negotiateOutput(request.accept, { isCustom, isList: target.verb === 'list' });
    const warnings: string[] = kind.deprecation === undefined ? [] : [kind.deprecation];
    try {
      const response = await perform({ request, kind, target, warnings });

      // Respond.
      const told = response.type !== 'stream' && warnings.length > 0 ? { ...response, warnings } : response;
      return present(told, { form, kind, query: request.query, now: () => clock.now() });
    } catch (err) {
      if (warnings.length === 0) throw err;
      return { ...refused(request, err), warnings }; // who is refused is warned all the same
    }
  }

  function perform(call: Call): ApiResponse | Promise<ApiResponse> {
    const { kind, target } = call;
    switch (target.verb) {
      case 'get':
        return get(call);
      case 'list':
        return list(call);
      case 'watch':
        return watch(call);
      case 'create':
        if (target.subresource === 'binding' || kind === bindingKind) return bind(call);
        if (target.subresource === 'eviction') return evict(call);
        return kind.review ? review(call) : create(call);
      case 'update':
      case 'patch':
        return update(call);
      case 'delete':
        return remove(call);
      case 'deletecollection':
        return removeCollection(call);
      default:
        throw notAllowed();
    }
  }

  // ---- reading ------------------------------------------------------------------------------------------

  async function get({ request, kind, target }: Call): Promise<ApiResponse> {
    const name = target.name ?? '';
    const wanted = readResourceVersion(request.query);
    if (wanted !== undefined && wanted > storage.revision) throw tooLargeVersion(wanted, storage.revision);
    const entry = storage.get(storageKey(kind, { ...target, name }));
    if (!entry) throw notFound(kind.resource, name);
    const [object] = await conversion.shown(kind, [entry.value as ApiObject]);
    if (!object) throw notFound(kind.resource, name);
    if (target.subresource === 'log') return streamLog(object as unknown as Pod, request, nodeStreams);
    if (target.subresource === 'scale' && kind.scale)
      return respond(200, shownScale(object, kind.scale, true));
    return respond(200, object);
  }

  async function list({ request, kind, target }: Call): Promise<ApiResponse> {
    const { objects, metadata } = listObjects(storage, {
      prefix: storagePrefix(kind, target.namespace),
      options: readListOptions(request.query),
      matches: matcherOf(request, kind),
    });
    return respondList(kind, metadata, objects);
  }

  /** Selectors name fields as the version of the request has them, whatever version is stored. */
  function matcherOf({ query }: ApiRequest, kind: Kind): Matcher | undefined {
    const matches = readMatcher(query, kind);
    return matches && !asksOutside(kind) ? (object) => matches(conversion.shownNow(kind, object)) : matches;
  }

  async function respondList(
    kind: Kind,
    metadata: ObjectList['metadata'],
    objects: readonly ApiObject[],
  ): Promise<ApiResponse> {
    const found: ObjectList = {
      kind: kind.listKind,
      apiVersion: apiVersionOf(kind.resource),
      metadata: kind.isCustom ? { continue: '', ...metadata } : metadata,
      items: await conversion.shown(kind, objects),
    };
    return { type: 'object', status: 200, object: found, hasUniformItems: !kind.isCustom };
  }

  function watch({ request, kind, target }: Call): ApiResponse {
    const options = readWatchOptions(request.query);
    // Without a wish a watch ends after 30 to 60 minutes: clients spread their coming back, none stays for ever.
    const timeoutMs = (options.timeoutSeconds ?? 1_800 * (1 + Math.random())) * 1000;
    const { kind: kindName } = kind.resource;
    const events = watchObjects(storage, clock, {
      prefix: storagePrefix(kind, target.namespace),
      from: options.resourceVersion,
      sendsInitial: options.sendsInitial,
      matches: matcherOf(request, kind),
      shown: asksOutside(kind)
        ? async (object) => (await conversion.shown(kind, [object]))[0] ?? object
        : (object) => conversion.shownNow(kind, object),
      timeoutMs,
      bookmarks: options.wantsBookmarks
        ? { kind: kindName, apiVersion: apiVersionOf(kind.resource) }
        : undefined,
      signal: request.signal,
    });
    return { type: 'watch', events };
  }

  // ---- writing ------------------------------------------------------------------------------------------

  async function create(call: Call): Promise<ApiResponse> {
    const { request, kind, target, warnings } = call;
    // Decode.
    const options = readWriteOptions(request.query, 'CreateOptions');
    const draft = decodeObject(request, call, { ...options, warnings });

    // Admit, validate and store, against what is there when it is this write's turn.
    const { name: chosen, generateName = '' } = draft.metadata;
    for (let attempt = 1; ; attempt++) {
      const name = chosen ?? (generateName === '' ? '' : generatedName(generateName));
      let isTaken = false;
      try {
        const object = await write(kind, { ...target, name }, options.isDryRun, (old, around) => {
          const object = admitted(call, draft, { name, around });
          checkUnversioned(draft);
          isTaken = old !== undefined;
          if (old) throw taken(kind, old, chosen === undefined);
          return { type: 'put', object };
        });
        return respond(201, object);
      } catch (err) {
        if (!isTaken || chosen !== undefined || attempt === maxNameAttempts) throw err;
      }
    }
  }

  /** A new object as it may be stored: its namespace takes it, and it is valid. */
  function admitted(
    { kind, target, warnings }: Call,
    draft: AskedObject,
    { name, around }: { name: string; around: Around },
  ): ApiObject {
    admitToNamespace(kind, target.namespace, name);
    const object = createObject(draft, kind, { name, around });
    warn(warnings, kind.warnings?.(object, undefined));
    return object;
  }

  async function update(call: Call): Promise<ApiResponse> {
    const { request, kind, target, warnings } = call;
    const { subresource, verb } = target;
    const name = target.name ?? '';
    // Decode: the whole object now, a patch when we have what it is to change.
    const isPatch = verb === 'patch';
    const options = readWriteOptions(request.query, isPatch ? 'PatchOptions' : 'UpdateOptions');
    const strictness = { ...options, warnings };
    const ask = isPatch ? patched(call, strictness) : replaced(call, strictness);

    let isNew = false;
    const object = await write(kind, { ...target, name }, options.isDryRun, (old, around) => {
      isNew = old === undefined;
      if (!old) {
        if (isPatch || subresource !== undefined || !kind.allowsCreateOnUpdate)
          throw notFound(kind.resource, name);
        return { type: 'put', object: admitted(call, ask(undefined), { name, around }) };
      }
      const asked = ask(old);
      if (subresource === 'finalize') return finalizeNamespace(old, kind, asked);
      const change = updateObject(old, kind, { asked, subresource, isPatch, around });
      warn(warnings, kind.warnings?.(change.object, old));
      return change;
    });
    if (subresource === 'scale' && kind.scale) return respond(200, shownScale(object, kind.scale, false));
    return respond(isNew ? 201 : 200, object);
  }

  /** What an update with a whole body asks for. A Scale asks for the object with another number in it. */
  function replaced(
    { request, kind, target }: Call,
    strictness: Strictness,
  ): (old?: ApiObject) => AskedObject {
    const { scale } = target.subresource === 'scale' ? kind : { scale: undefined };
    const asked = decodeObject(request, { kind: scale ? scaleKind : kind, target }, strictness);
    checkName(asked, target.name ?? '');
    return (old) => (scale && old ? scaledObject(old, asked, scale) : asked);
  }

  /** What a patch asks for, once there is an object to apply it to. */
  function patched(
    { request, kind, target }: Call,
    strictness: Strictness,
  ): (old?: ApiObject) => AskedObject {
    const { apply, duplicates } = readPatch(request, kind);
    const { scale } = target.subresource === 'scale' ? kind : { scale: undefined };
    return (old) => {
      const options = { ...strictness, duplicates };
      if (!scale || !old) return decodePatched(apply(old), { kind, target }, options);
      const asked = decodePatched(apply(scaleOf(old, scale)), { kind: scaleKind, target }, options);
      return scaledObject(old, asked, scale);
    };
  }

  async function bind(call: Call): Promise<ApiResponse> {
    const { request, target, warnings } = call;
    const options = readWriteOptions(request.query, 'CreateOptions');
    const asked = decodeObject(request, { kind: bindingKind, target }, { ...options, warnings });
    const name = target.name ?? asked.metadata.name ?? '';
    if (asked.metadata.name !== name) {
      throw statusFault('badRequest', 'name in URL does not match name in Binding object');
    }
    bindingTarget(asked as { target?: unknown });
    await write(podKind, { ...target, name }, options.isDryRun, (old) => {
      if (!old) throw notFound(pods, name);
      return bindPod(old, podKind, { asked, now: clock.now() });
    });
    return respond(201, success({ code: 201 }));
  }

  async function evict(call: Call): Promise<ApiResponse> {
    const { request, kind, target, warnings } = call;
    const name = target.name ?? '';
    const { isDryRun, ...strictness } = readWriteOptions(request.query, 'CreateOptions');
    const asked = decodeObject(request, { kind: evictionKind, target }, { ...strictness, warnings });
    if (asked.metadata.name !== name) {
      throw statusFault('badRequest', 'name in URL does not match name in Eviction object');
    }
    const { deleteOptions } = asked as { deleteOptions?: Readonly<Record<string, unknown>> };
    const options = deleteOptionsOf({ ...(isDryRun ? { dryRun: ['All'] } : {}), ...deleteOptions });

    const entry = storage.get(storageKey(kind, { ...target, name }));
    if (!entry) throw notFound(kind.resource, name);
    const pod = entry.value as ApiObject;
    if (!isFreeToGo(pod)) await spendBudget(pod, options.isDryRun);
    await write(kind, { ...target, name }, options.isDryRun, (old) => {
      if (!old) throw notFound(kind.resource, name);
      return deleteObject(markedForEviction(old, clock.now()), kind, deletion(options));
    });
    return respond(201, success({ code: 201 }));
  }

  /** Takes one disruption from the budget of a pod, if it has one and it has one to give. */
  async function spendBudget(pod: ApiObject, isDryRun: boolean): Promise<void> {
    const { namespace = '' } = pod.metadata;
    const { entries } = storage.list(storagePrefix({ resource: podDisruptionBudgets }, namespace));
    const all = entries.map(({ value }) => value as Budget);
    const [budget, ...others] = budgetsFor(pod, all);
    if (!budget || (others.length === 0 && isNoLoss(pod, budget))) return;
    if (others.length > 0) {
      const message =
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
      throw unexplained(500, message);
    }
    const budgetKind = registry.find(podDisruptionBudgets);
    if (!budgetKind) return;
    await write(budgetKind, { namespace, name: budget.metadata.name }, isDryRun, (old) => {
      if (!old) throw notFound(podDisruptionBudgets, budget.metadata.name);
      return { type: 'put', object: spendDisruption(old as Budget, pod, clock.now()) };
    });
  }

  async function remove({ request, kind, target }: Call): Promise<ApiResponse> {
    const name = target.name ?? '';
    const options = readDeleteOptions(request);
    const { object, isGone } = await removeOne(kind, { ...target, name }, options);
    if (!isGone || kind.returnsDeleted) {
      return respond(options.wantsPatience && !isGone ? 202 : 200, object);
    }
    const { group, plural } = kind.resource;
    const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid: object.metadata.uid };
    return respond(200, success({ details }));
  }

  async function removeOne(
    kind: Kind,
    at: ObjectKey,
    options: DeleteOptions,
  ): Promise<{ object: ApiObject; isGone: boolean }> {
    let isGone = false;
    const object = await write(kind, at, options.isDryRun, (old) => {
      if (!old) throw notFound(kind.resource, at.name);
      const change = deleteObject(old, kind, deletion(options));
      isGone = change.type === 'delete';
      return change;
    });
    return { object, isGone };
  }

  function deletion(options: DeleteOptions) {
    return { options, now: clock.now(), count: (prefix: string) => storage.list(prefix).entries.length };
  }

  /** Every object of a selection, each by a deletion of its own. What others delete meanwhile is as good. */
  async function removeCollection({ request, kind, target }: Call): Promise<ApiResponse> {
    const listOptions = readListOptions(request.query);
    const matches = matcherOf(request, kind);
    const options = readDeleteOptions(request);
    const prefix = storagePrefix(kind, target.namespace);
    const { objects, metadata } = listObjects(storage, { prefix, options: listOptions, matches });
    for (let done = 0; done < objects.length; done += deletionBatch) {
      const batch = objects.slice(done, done + deletionBatch);
      await Promise.all(batch.map(({ metadata: at }) => ignoring('not-found', removeOne(kind, at, options))));
    }
    return respondList(kind, metadata, objects);
  }

  /**
   * Decides on an object as its store has it, in the version of the request, and stores the answer. Resolves with
   * what it has become when that is durable.
   */
  async function write(kind: Kind, at: ObjectKey, isDryRun: boolean, decide: Decide): Promise<ApiObject> {
    using surroundings = surroundingsOf({ storage, clock, reserved });
    const place: Place = { kind, key: storageKey(kind, at), isDryRun };
    const decided = (old: ApiObject | undefined) => decide(old, surroundings);
    const written = asksOutside(kind)
      ? await writeConverted(place, decided)
      : await writeAtOnce(place, decided);
    if (kind.settle && written.type !== 'keep' && !isDryRun) {
      try {
        await kind.settle(written.answer, { storage, clock, log });
      } catch (err) {
        // The write has happened and is answered; what should have followed from it is tried again by the next.
        log.error('cannot settle a write', { key: place.key, err });
      }
    }
    return written.answer;
  }

  /** The rule: decided inside the storage's write, on the newest state there is. */
  async function writeAtOnce(place: Place, decide: DecideAlone): Promise<Written> {
    const { kind, key, isDryRun } = place;
    let written: Written | undefined;
    await storage.write(key, (head, revision) => {
      const change = decide(head && conversion.shownNow(kind, head.value as ApiObject));
      if (change.type === 'keep' || isDryRun) {
        written = writtenBy(change, head?.revision);
        return { type: 'keep' };
      }
      // Stored and answered is one object: in process it is handed over as it is.
      const object = stamped(change.object, revision);
      written = { type: change.type, answer: change.answer ?? object };
      return { type: change.type, value: conversion.storedNow(kind, object) };
    });
    return written as Written;
  }

  /** Where converting takes asking outside: decided on what was there, and again if that has changed meanwhile. */
  async function writeConverted(place: Place, decide: DecideAlone): Promise<Written> {
    const { kind, key, isDryRun } = place;
    for (let attempt = 1; attempt <= maxConversionAttempts; attempt++) {
      const before = storage.get(key);
      const [old] = before ? await conversion.shown(kind, [before.value as ApiObject]) : [];
      const change = decide(old);
      const isStored = change.type !== 'keep' && !isDryRun;
      const value = isStored ? await conversion.stored(kind, change.object) : change.object;
      let written: Written | undefined;
      await storage.write(key, (head, revision) => {
        if (head?.revision !== before?.revision) return { type: 'keep' };
        written = writtenBy(change, isDryRun ? head?.revision : revision);
        return isStored ? { type: change.type, value: stamped(value, revision) } : { type: 'keep' };
      });
      if (written) return written;
    }
    throw new Fault('too-many-requests', `write ${key}: it keeps changing while it is converted`);
  }

  /** Nothing is created in a namespace that is not there, or is on its way out. */
  function admitToNamespace(kind: Kind, namespace: string | undefined, name: string): void {
    if (namespace === undefined) return;
    const entry = storage.get(storagePrefix({ resource: namespaces }) + namespace);
    if (!entry) throw notFound(namespaces, namespace);
    if (isTerminating(entry.value as ApiObject)) throw namespaceTerminating(kind, namespace, name);
  }

  async function review(call: Call): Promise<ApiResponse> {
    const { request, kind, warnings } = call;
    const options = readWriteOptions(request.query, 'CreateOptions');
    const { apiVersion, kind: kindName, spec } = decodeObject(request, call, { ...options, warnings });
    const asked = { apiVersion, kind: kindName, metadata: {}, spec };
    const status = await kind.review?.(asked as unknown as ApiObject, request.user);
    return respond(201, { ...asked, status } as ResponseObject);
  }

  return { handle, authenticator, log, run: (signal) => tidy({ storage, clock, log, kinds }, signal) };
}

type Decide = (old: ApiObject | undefined, around: Around) => Change;
type DecideAlone = (old: ApiObject | undefined) => Change;

interface Place {
  readonly kind: Kind;
  readonly key: string;
  readonly isDryRun: boolean;
}

/** A failure that somebody should look into: not an answer that was meant, however high its number. */
function isOurs(err: unknown, status: number): boolean {
  return status >= 500 && !(err instanceof StatusFault) && !isFault(err, 'too-large');
}

/** Each once, however often a write had to be decided. */
function warn(warnings: string[], more: readonly string[] = []): void {
  for (const warning of more) if (!warnings.includes(warning)) warnings.push(warning);
}

interface Written {
  readonly type: Change['type'];
  readonly answer: ApiObject;
}

function writtenBy({ type, object, answer }: Change, revision: number | undefined): Written {
  return { type, answer: answer ?? (type === 'keep' ? object : stamped(object, revision)) };
}

/** An object with the revision it was stored at; one that never was has none. */
function stamped(object: ApiObject, revision: number | undefined): ApiObject {
  if (revision !== undefined) return withMetadata(object, { resourceVersion: String(revision) });
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as ApiObject['metadata'] };
}

function respond(status: number, object: ResponseObject): ApiResponse {
  return { type: 'object', status, object };
}
