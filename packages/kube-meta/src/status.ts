/** Failures in Kubernetes' own words: thrown inside a server, answered as `Status`, thrown again by a client. */
import { Fault, type FaultCode } from '@hutch/base';
import type { Status, StatusCause } from './exchange.ts';
import type { Resource } from './object.ts';

/** A failure with the `Status` that describes it on the wire. */
export class StatusFault extends Fault {
  override readonly name: string = 'StatusFault';
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(faultCodeOf(status), status.message ?? status.reason ?? `status ${status.code}`, options);
    this.status = status;
  }
}

interface Kind {
  readonly code: number;
  readonly reason: string;
  readonly fault: FaultCode;
}

const kinds = {
  badRequest: { code: 400, reason: 'BadRequest', fault: 'invalid' },
  unauthorized: { code: 401, reason: 'Unauthorized', fault: 'unauthorized' },
  forbidden: { code: 403, reason: 'Forbidden', fault: 'forbidden' },
  notFound: { code: 404, reason: 'NotFound', fault: 'not-found' },
  methodNotAllowed: { code: 405, reason: 'MethodNotAllowed', fault: 'unsupported' },
  notAcceptable: { code: 406, reason: 'NotAcceptable', fault: 'unsupported' },
  alreadyExists: { code: 409, reason: 'AlreadyExists', fault: 'already-exists' },
  conflict: { code: 409, reason: 'Conflict', fault: 'conflict' },
  expired: { code: 410, reason: 'Expired', fault: 'expired' },
  gone: { code: 410, reason: 'Gone', fault: 'expired' },
  tooLarge: { code: 413, reason: 'RequestEntityTooLarge', fault: 'too-large' },
  unsupportedMediaType: { code: 415, reason: 'UnsupportedMediaType', fault: 'unsupported' },
  invalid: { code: 422, reason: 'Invalid', fault: 'invalid' },
  tooManyRequests: { code: 429, reason: 'TooManyRequests', fault: 'too-many-requests' },
  internal: { code: 500, reason: 'InternalError', fault: 'internal' },
  unavailable: { code: 503, reason: 'ServiceUnavailable', fault: 'unavailable' },
  timeout: { code: 504, reason: 'Timeout', fault: 'timeout' },
} as const satisfies Record<string, Kind>;

export type StatusKind = keyof typeof kinds;

function faultCodeOf(status: Status): FaultCode {
  const all = Object.values<Kind>(kinds);
  const byReason = all.find((kind) => kind.reason === status.reason);
  return (byReason ?? all.find((kind) => kind.code === status.code))?.fault ?? 'internal';
}

/** Makes a failure of the given kind. */
export function statusFault(
  kind: StatusKind,
  message: string,
  details?: Status['details'],
  cause?: unknown,
): StatusFault {
  const { code, reason } = kinds[kind];
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details ? { details } : {}),
    code,
  };
  return new StatusFault(status, cause === undefined ? undefined : { cause });
}

type Named = Pick<Resource, 'group' | 'plural' | 'kind'>;

/** `pods`, or `sandboxes.agents.x-k8s.io`: how Kubernetes names a resource in messages. */
export function resourceText({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function detailsOf(resource: Named, name: string): NonNullable<Status['details']> {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

export function notFound(resource: Named, name: string): StatusFault {
  return statusFault('notFound', `${resourceText(resource)} "${name}" not found`, detailsOf(resource, name));
}

export function alreadyExists(resource: Named, name: string): StatusFault {
  return statusFault(
    'alreadyExists',
    `${resourceText(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );
}

export function conflict(resource: Named, name: string, why: string): StatusFault {
  const message = `Operation cannot be fulfilled on ${resourceText(resource)} "${name}": ${why}`;
  return statusFault('conflict', message, detailsOf(resource, name));
}

/** A refused object, with every field that is wrong. */
export function invalid(
  resource: Named,
  name: string,
  causes: readonly Required<StatusCause>[],
): StatusFault {
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const body = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const qualified = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
  const { kind: _, ...details } = detailsOf(resource, name);
  return statusFault('invalid', `${qualified} "${name}" is invalid: ${body}`, {
    ...details,
    ...(resource.kind === '' ? {} : { kind: resource.kind }),
    causes,
  });
}
