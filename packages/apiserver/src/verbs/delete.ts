/** What a delete makes of a stored object: gone, or marked and waiting for whoever holds it. Pure. */
import {
  type ApiRequest,
  foregroundFinalizer,
  isTerminating,
  orphanFinalizer,
  resourceText,
  statusFault,
} from '@hutch/kube-meta';
import { decodeBody } from '../decode.ts';
import { goType } from '../go-types.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { timestamp } from '../metadata.ts';
import { dryRunProblems, invalidOptions } from '../options.ts';
import { invalidValue, unsupportedValue } from '../problems.ts';
import { readBoolean, readInteger } from '../query.ts';
import { type Change, isReleased, putIfChanged, withMetadata } from './change.ts';

const policies = ['Foreground', 'Background', 'Orphan'] as const;
type Policy = (typeof policies)[number];

export interface DeleteOptions {
  readonly graceSeconds: number | undefined;
  readonly policy: Policy | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly isDryRun: boolean;
  /** Asked in the old way for dependants to go too: an object that stays for a while is only accepted, not done. */
  readonly wantsPatience: boolean;
}

/** Options come as a body or, without one, in the query. */
export function readDeleteOptions(request: ApiRequest): DeleteOptions {
  const hasBody = request.body !== undefined || (request.bodyText ?? '') !== '';
  if (!hasBody) return deleteOptionsOf(optionsFromQuery(request.query));
  const body = decodeBody(request, 'DeleteOptions');
  const { kind = 'DeleteOptions', apiVersion = 'v1' } = body;
  if (kind !== 'DeleteOptions') {
    const why = `no kind "${String(kind)}" is registered for version "${String(apiVersion)}"`;
    throw statusFault('badRequest', `${why} in scheme "pkg/runtime/scheme.go:111"`);
  }
  return deleteOptionsOf(body);
}

function optionsFromQuery(query: URLSearchParams): JsonObject {
  const policy = query.get('propagationPolicy');
  return {
    gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(query.has('orphanDependents') ? { orphanDependents: readBoolean(query, 'orphanDependents') } : {}),
    dryRun: query.getAll('dryRun'),
  };
}

/** Options in the form of a body. */
export function deleteOptionsOf(body: JsonObject): DeleteOptions {
  const { gracePeriodSeconds: grace, propagationPolicy: policy, orphanDependents: orphan } = body;
  checkTypes(body);
  const dryRun = Array.isArray(body.dryRun) ? (body.dryRun as unknown[]) : [];
  const isKnown =
    policy === undefined || policy === null || (policies as readonly unknown[]).includes(policy);
  const problems = [
    ...(typeof orphan === 'boolean' && policy !== undefined
      ? [
          invalidValue(
            'propagationPolicy',
            policy,
            'orphanDependents and deletionPropagation cannot be both set',
          ),
        ]
      : []),
    ...(isKnown ? [] : [unsupportedValue('propagationPolicy', policy, [...policies, 'nil'])]),
    ...dryRunProblems(dryRun),
  ];
  if (problems.length > 0) throw invalidOptions('DeleteOptions', problems);
  const preconditions = isObject(body.preconditions) ? body.preconditions : {};
  return {
    // A negative grace is read as the shortest one.
    graceSeconds: typeof grace === 'number' ? (grace < 0 ? 1 : grace) : undefined,
    policy: typeof orphan === 'boolean' ? (orphan ? 'Orphan' : 'Background') : (policy as Policy | undefined),
    wantsPatience: orphan === false,
    uid: textOf(preconditions.uid),
    resourceVersion: textOf(preconditions.resourceVersion),
    isDryRun: dryRun.includes('All'),
  };
}

const optionTypes: readonly [string, string, (value: unknown) => boolean][] = [
  ['gracePeriodSeconds', 'int64', Number.isSafeInteger],
  ['preconditions', 'v1.Preconditions', isObject],
  ['orphanDependents', 'bool', (value) => typeof value === 'boolean'],
  ['propagationPolicy', 'v1.DeletionPropagation', (value) => typeof value === 'string'],
  ['dryRun', '[]string', Array.isArray],
];

function checkTypes(body: JsonObject): void {
  for (const [field, type, isOf] of optionTypes) {
    const value = body[field];
    if (value === undefined || value === null || isOf(value)) continue;
    const why = `json: cannot unmarshal ${goType(value)} into Go struct field DeleteOptions.${field} of type ${type}`;
    throw statusFault('badRequest', why);
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export interface Deletion {
  readonly options: DeleteOptions;
  readonly now: Date;
  /** How many keys there are under a prefix of the store. */
  readonly count: (prefix: string) => number;
}

export function deleteObject(old: ApiObject, kind: Kind, deletion: Deletion): Change {
  const { options } = deletion;
  checkPreconditions(old, kind, options);
  checkRefusal(old, kind, deletion);
  const held = withPolicy(old, options.policy);
  const marked = isTerminating(old) ? hurried(held, options) : terminating(held, kind, deletion);
  // Kinds with a grace are marked although it is none, and are so seen for the last time.
  if (isReleased(marked, kind)) return { type: 'delete', object: kind.graceSeconds ? marked : old };
  if (!isTerminating(old)) return { type: 'put', object: kind.markTerminating?.(marked) ?? marked };
  return putIfChanged(marked, old);
}

function checkPreconditions(old: ApiObject, kind: Kind, { uid, resourceVersion }: DeleteOptions): void {
  const { metadata } = old;
  const { resource } = kind;
  const refuse = (why: string) => {
    const qualified = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
    const message = `Operation cannot be fulfilled on ${qualified} "${metadata.name}": ${why}`;
    const group = resource.group === '' ? {} : { group: resource.group };
    return statusFault('conflict', message, { name: metadata.name, ...group, kind: resource.kind });
  };
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}).`;
    throw refuse(`${why} The object might have been deleted and then recreated`);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}).`;
    throw refuse(`${why} The object might have been modified`);
  }
}

function checkRefusal(old: ApiObject, kind: Kind, { count }: Deletion): void {
  const why = kind.deletionRefusal?.(old, count);
  if (why === undefined) return;
  const { resource } = kind;
  const { name } = old.metadata;
  const details = {
    name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  };
  throw statusFault('forbidden', `${resourceText(resource)} "${name}" is forbidden: ${why}`, details);
}

/** How dependants are to be treated is written into the object, for the garbage collector to read. */
function withPolicy(object: ApiObject, policy: Policy | undefined): ApiObject {
  if (policy === undefined) return object;
  const { finalizers: before, ...metadata } = object.metadata;
  const others = (before ?? []).filter(
    (finalizer) => finalizer !== foregroundFinalizer && finalizer !== orphanFinalizer,
  );
  const added =
    policy === 'Foreground' ? [foregroundFinalizer] : policy === 'Orphan' ? [orphanFinalizer] : [];
  const finalizers = [...others, ...added];
  return { ...object, metadata: { ...metadata, ...(finalizers.length > 0 ? { finalizers } : {}) } };
}

function terminating(object: ApiObject, kind: Kind, { options, now }: Deletion): ApiObject {
  const grace = kind.graceSeconds?.(object, options.graceSeconds) ?? 0;
  const { generation } = object.metadata;
  return withMetadata(object, {
    deletionTimestamp: timestamp(new Date(now.getTime() + grace * 1000)),
    // What a controller has to let go of is on nobody's clock.
    ...(kind.isHeld ? {} : { deletionGracePeriodSeconds: grace }),
    ...(generation === undefined ? {} : { generation: generation + 1 }),
  });
}

/** A second delete can only shorten the wait. */
function hurried(object: ApiObject, { graceSeconds }: DeleteOptions): ApiObject {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: current = 0 } = object.metadata;
  if (graceSeconds === undefined || graceSeconds >= current) return object;
  const asked = Date.parse(deletionTimestamp) - current * 1000;
  return withMetadata(object, {
    deletionTimestamp: timestamp(new Date(asked + graceSeconds * 1000)),
    deletionGracePeriodSeconds: graceSeconds,
  });
}
