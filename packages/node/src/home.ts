/** Where the node keeps its part of a home's data directory. Nobody else writes there. */
import { join } from 'node:path';
import { Fault } from '@hutch/base';

export interface HomeLayout {
  readonly root: string;
  /** The claimed network index and what else must outlive the agent. */
  readonly homeFile: string;
  /** One directory a pod, named by its uid: the ledger. */
  readonly pods: string;
  /** conmon writes one file a container here when it ends. */
  readonly exits: string;
  /** The OCI runtime's own state. */
  readonly runtimeState: string;
  /** Short links to attach sockets, whose own paths may be too long for a socket address. */
  readonly sockets: string;
}

export function homeLayout(dataDir: string): HomeLayout {
  const root = join(dataDir, 'node');
  return {
    root,
    homeFile: join(root, 'home.json'),
    pods: join(root, 'pods'),
    exits: join(root, 'exits'),
    runtimeState: join(root, 'runtime'),
    sockets: join(root, 'sockets'),
  };
}

export interface PodLayout {
  readonly root: string;
  readonly ledger: string;
  /** A file the pod's network namespace is mounted on. */
  readonly netns: string;
  readonly volumes: string;
  readonly containers: string;
}

/** A uid becomes a directory name, so one that could be a path is refused here and nowhere else. */
export function podLayout(home: HomeLayout, uid: string): PodLayout {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(uid))
    throw new Fault('invalid', `pod uid ${JSON.stringify(uid)}`);
  const root = join(home.pods, uid);
  return {
    root,
    ledger: join(root, 'pod.json'),
    netns: join(root, 'netns'),
    volumes: join(root, 'volumes'),
    containers: join(root, 'containers'),
  };
}

/** Every start of a container has a directory of its own, so a restart finds a clean root. */
export function containerDirectory(pod: PodLayout, name: string, attempt: number): string {
  return join(pod.containers, name, String(attempt));
}
