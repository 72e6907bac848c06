/** What the server asks of the node that runs a pod. The node implements it, the application wires it. */
import type { Pod } from '@hutch/kube-meta';

export interface LogOptions {
  readonly container: string;
  /** Go on with what is written from now, until the container ends or the signal aborts. */
  readonly follow: boolean;
  /** Only this many of the last lines of what is there. */
  readonly tailLines?: number | undefined;
  /** Of the container's last run before the current one. */
  readonly previous: boolean;
  /** Each line begins with the time it was written. */
  readonly timestamps: boolean;
}

export interface NodeStreams {
  /** The bytes a container wrote. Throws a fault when there can be none: no such container, not started yet. */
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>;
}
