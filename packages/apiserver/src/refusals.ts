/** Failures as answers. Every one becomes a Status here, once; what nobody expected is a bug of ours, never the caller's. */
import { isFault, messageOf } from '@hutch/base';
import {
  type ApiResponse,
  alreadyExists,
  type DraftMeta,
  isTerminating,
  type Resource,
  resourceText,
  type Status,
  StatusFault,
  statusFault,
} from '@hutch/kube-meta';
import type { ApiObject, Kind } from './kinds/kind.ts';

/** Thrown for what Kubernetes answers with a line of text. */
class PlainRefusal extends Error {
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

/** Nothing of ours is at this path: no kind, no document. */
export function noSuchPage(): Error {
  return new PlainRefusal(404, '404 page not found\n');
}

export function noSuchResource(): Error {
  return statusFault('notFound', 'the server could not find the requested resource', {});
}

export function notAllowed(): Error {
  const message = 'the server does not allow this method on the requested resource';
  return statusFault('methodNotAllowed', message, {});
}

/** A failure without a reason of its own, as Kubernetes passes on what its store said. */
export function unexplained(code: number, message: string): Error {
  const fault = statusFault('internal', message);
  const { reason: _, ...status } = fault.status;
  return Object.assign(fault, { status: { ...status, code } });
}

export function refusalOf(err: unknown): Extract<ApiResponse, { type: 'object' }> {
  if (err instanceof PlainRefusal) return { type: 'object', status: err.code, object: err.message };
  const status = statusOf(err);
  return { type: 'object', status: status.code, object: status };
}

function statusOf(err: unknown): Status {
  if (err instanceof StatusFault) return err.status;
  if (isFault(err, 'not-found')) return statusFault('notFound', err.message).status;
  if (isFault(err, 'invalid')) return statusFault('badRequest', err.message).status;
  if (isFault(err, 'expired')) return statusFault('expired', err.message).status;
  if (isFault(err, 'unavailable')) return statusFault('unavailable', err.message).status;
  if (isFault(err, 'too-large')) {
    // The store's own limit, in the words its clients know from another store.
    return (unexplained(500, 'etcdserver: request is too large') as StatusFault).status;
  }
  if (isFault(err, 'queue-full', 'too-many-requests')) {
    return statusFault('tooManyRequests', err.message, { retryAfterSeconds: 1 }).status;
  }
  if (err instanceof RangeError && err.message.includes('call stack')) {
    return statusFault('badRequest', 'the object is nested too deeply').status;
  }
  const message = messageOf(err);
  return statusFault('internal', `Internal error occurred: ${message}`, { causes: [{ message }] }).status;
}

/** A Success without a code is how a deletion is answered. */
export function success(more: Partial<Status>): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...more } as Status;
}

function detailsOf({ group, plural }: Resource, name: string): NonNullable<Status['details']> {
  return { name, ...(group === '' ? {} : { group }), kind: plural };
}

/** The name of a new object belongs to another. */
export function taken({ resource }: Kind, old: ApiObject, wasGenerated: boolean): Error {
  const { name } = old.metadata;
  const fault = alreadyExists(resource, name);
  if (!wasGenerated && !isTerminating(old)) return fault;
  const message = wasGenerated
    ? `${fault.message}, the server was not able to generate a unique name for the object`
    : `object is being deleted: ${fault.message}`;
  const retry = wasGenerated ? { retryAfterSeconds: 1 } : {};
  return statusFault('alreadyExists', message, { ...detailsOf(resource, name), ...retry });
}

export function namespaceTerminating({ resource }: Kind, namespace: string, name: string): Error {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  return statusFault('forbidden', `${resourceText(resource)} "${name}" is forbidden: ${why}`, {
    ...detailsOf(resource, name),
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}

/** What is to be created cannot have been stored before. */
export function checkUnversioned({ metadata }: { metadata: DraftMeta }): void {
  if (Number(metadata.resourceVersion ?? 0) > 0) {
    throw unexplained(500, 'resourceVersion should not be set on objects to be created');
  }
}
