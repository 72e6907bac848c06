/**
 * What the node needs of a container runtime. Drivers are beside this file; only the agent picks one.
 *
 * Guarantees every driver gives:
 * - a container, its output and its exit status outlive the process that made it: `look` finds them again;
 * - `create` leaves the first process of the container waiting, `start` lets it go;
 * - `kill` and `remove` may be repeated and do not mind what is already gone.
 */
import type { OciSpec } from './oci.ts';

/** Which container, and the directory that is all its own. */
export interface ContainerPlace {
  readonly id: string;
  readonly directory: string;
}

export interface ContainerPlan extends ContainerPlace {
  readonly spec: OciSpec;
  /** See `chooseRootPath`. */
  readonly rootPath: string;
  readonly netns: string;
  /** Output is written here, one line each with time and stream. */
  readonly logPath: string;
  readonly hasTerminal: boolean;
  readonly hasStdin: boolean;
}

export interface Exit {
  /** 128 + N for a process that signal N ended. */
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Set when it is not the program's own end: it never started, or nobody was there to see it end. */
  readonly problem?: { readonly reason: string; readonly message: string };
}

export type Sight =
  /** Never created, or created and not started: safe to begin again. */
  | { readonly type: 'absent' }
  /** Without a pid: its first process is gone, and word of how it ended is on its way. */
  | { readonly type: 'running'; readonly pid: number | undefined; readonly startedAt: string }
  /** Also when nothing watches over it any more. Until `remove`, processes of it may live on. */
  | { readonly type: 'exited'; readonly exit: Exit };

export type KillSignal = 'SIGTERM' | 'SIGKILL';

export interface ContainerRuntime {
  /** As in `runtimeClassName`, and the scheme of a container id in a pod's status. */
  readonly name: string;
  /** Rejects with an `invalid` fault when the container can never start (no such program), else retry may help. */
  create(plan: ContainerPlan, signal: AbortSignal): Promise<{ readonly pid: number }>;
  /** Resolves with the time of the start, the same that `look` tells later. */
  start(place: ContainerPlace, signal: AbortSignal): Promise<string>;
  look(place: ContainerPlace): Promise<Sight>;
  /** Resolves once the container has ended, also when it ended before. */
  wait(place: ContainerPlace, signal: AbortSignal): Promise<Exit>;
  /** To the container's first process. */
  kill(place: ContainerPlace, signal: KillSignal): Promise<void>;
  /**
   * Ends what still runs and removes everything but the output and the exit status. Rejects when something is left;
   * until everything has ended, no file it can reach is touched.
   */
  remove(place: ContainerPlace): Promise<void>;
  /** Stops watching. Containers go on. */
  close(): void;
}
