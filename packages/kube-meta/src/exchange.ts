/**
 * One request to a Kubernetes API server and its answer, as values.
 *
 * A server is a `Handle`. Its HTTP door turns bytes into an `ApiRequest` and an `ApiResponse` into
 * bytes; its in-process door is the function itself. A client's transport has the same type, so which
 * door a program uses is one line where it is put together.
 *
 * Objects that cross the in-process door are frozen and shared, never copied: nobody may change them.
 */
import type { KubeObject, ObjectList, TypeMeta } from './object.ts';

/** Who asks. Every caller has one, in process too; authorisation never looks at which door was used. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiRequest {
  readonly method: Method;
  /** Percent-encoded path without the query, such as `/api/v1/namespaces/default/pods/a`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Already parsed, or bytes where the Content-Type says protobuf. A missing Content-Type is JSON. */
  readonly body?: unknown;
  /** The body as it came, from a door that has bytes: parsed where it is known what it should be. */
  readonly bodyText?: string;
  readonly contentType?: string | undefined;
  /** The raw Accept header: chooses Table or PartialObjectMetadata output. */
  readonly accept?: string | undefined;
  readonly user: User;
  /** Aborted when the caller is gone. Watches and streams end with it. */
  readonly signal: AbortSignal;
}

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly object: TypeMeta & { readonly metadata: { readonly resourceVersion: string } };
    }
  | { readonly type: 'ERROR'; readonly object: Status };

/** A plain value (health, version texts) is an object answer too. */
export type ResponseObject = KubeObject | ObjectList | Status | TypeMeta | string;

export type ApiResponse =
  | {
      readonly type: 'object';
      readonly status: number;
      /** A string is sent as text/plain, everything else as JSON. */
      readonly object: ResponseObject;
      /** Sent as Warning headers. */
      readonly warnings?: readonly string[];
      /** On the wire the items of this list do not repeat their apiVersion and kind, as Kubernetes' own do not. */
      readonly hasUniformItems?: boolean;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'watch';
      readonly events: AsyncIterable<WatchEvent>;
      /** Sent as Warning headers. */
      readonly warnings?: readonly string[];
    }
  | { readonly type: 'stream'; readonly protocol: StreamProtocol; readonly open: OpenStream };

/** `body`: one channel named `out`, the response body (logs). `channels`: what the door negotiates (exec). */
export type StreamProtocol = 'body' | 'channels';

/**
 * A byte stream between the caller and a pod. The door negotiates the wire protocol, then calls `open`
 * with the channels it has; the promise settles when the exchange is over.
 */
export type OpenStream = (channels: ReadonlyMap<string, ByteStream>, signal: AbortSignal) => Promise<void>;

export interface ByteStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** Never rejects for an expected failure: that is an answer whose object is a `Status`. */
export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** Kubernetes' answer when it does not return an object. */
export interface Status extends TypeMeta {
  readonly apiVersion: 'v1';
  readonly kind: 'Status';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: 'Success' | 'Failure';
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && (value as TypeMeta).kind === 'Status';
}
