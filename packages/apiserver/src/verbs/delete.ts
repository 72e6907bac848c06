/** What a delete makes of a stored object: gone, or marked and waiting for whoever holds it. Pure. */
import { type ApiRequest, isTerminating, resourceText, statusFault } from '@hutch/kube-meta';
import { decodeBody } from '../decode.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ApiObject, Kind } from '../kinds/kind.ts';
import { timestamp } from '../metadata.ts';
import { isDryRun, readInteger } from '../query.ts';
import { type Change, isReleased, putIfChanged, withMetadata } from './change.ts';

const policies = ['Background', 'Foreground', 'Orphan'] as const;
type Policy = (typeof policies)[number];

export interface DeleteOptions {
  readonly graceSeconds: number | undefined;
  readonly policy: Policy | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly isDryRun: boolean;
}

/** Options come as a body or, without one, in the query. */
export function readDeleteOptions(request: ApiRequest): DeleteOptions {
  const body: JsonObject = request.body === undefined ? {} : decodeBody(request);
  const { query } = request;
  const grace = body.gracePeriodSeconds ?? readInteger(query, 'gracePeriodSeconds');
  if (grace !== undefined && grace !== null && !Number.isSafeInteger(grace)) {
    throw statusFault('badRequest', `gracePeriodSeconds: ${JSON.stringify(grace)} is not an integer`);
  }
  const policy = body.propagationPolicy ?? query.get('propagationPolicy') ?? undefined;
  if (policy !== undefined && !(policies as readonly unknown[]).includes(policy)) {
    const supported = '"Foreground", "Background", "Orphan"';
    const message = `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`;
    throw statusFault('invalid', message);
  }
  const preconditions = isObject(body.preconditions) ? body.preconditions : {};
  return {
    // A negative grace is read as the shortest one.
    graceSeconds: typeof grace === 'number' ? (grace < 0 ? 1 : grace) : undefined,
    policy: policy as Policy | undefined,
    uid: textOf(preconditions.uid),
    resourceVersion: textOf(preconditions.resourceVersion),
    isDryRun: isDryRun(query) || (Array.isArray(body.dryRun) && body.dryRun.includes('All')),
  };
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
  if (isReleased(marked, kind)) return { type: 'delete', object: old };
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
    (finalizer) => finalizer !== 'foregroundDeletion' && finalizer !== 'orphan',
  );
  const added = policy === 'Foreground' ? ['foregroundDeletion'] : policy === 'Orphan' ? ['orphan'] : [];
  const finalizers = [...others, ...added];
  return { ...object, metadata: { ...metadata, ...(finalizers.length > 0 ? { finalizers } : {}) } };
}

function terminating(object: ApiObject, kind: Kind, { options, now }: Deletion): ApiObject {
  const grace = kind.graceSeconds?.(object, options.graceSeconds) ?? 0;
  const { generation } = object.metadata;
  return withMetadata(object, {
    deletionTimestamp: timestamp(new Date(now.getTime() + grace * 1000)),
    deletionGracePeriodSeconds: grace,
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
