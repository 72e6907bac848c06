/** What the API says about each sandbox, as far as a request needs it. */
import { extensionsGroup, findCondition, warmPoolLabel } from '@hutch/api';
import type { Informer } from '@hutch/controller';
import { type Condition, controllerOf, isTerminating, type KubeObject } from '@hutch/kube-meta';

export interface Route {
  readonly uid: string;
  /** The claim that owns the sandbox, if one does. */
  readonly claimUid: string | undefined;
  readonly podIps: readonly string[];
  readonly isReady: boolean;
  /** Why it is not ready, in the words of its Ready condition. */
  readonly reason: string;
  readonly message: string;
}

export interface Routes {
  /** From memory: never waits and never asks a name server. */
  lookup(namespace: string, name: string): Route | undefined;
}

/** The fields of a Sandbox that decide a route. */
export interface RoutableSandbox extends KubeObject {
  readonly status?:
    | {
        readonly conditions?: readonly Condition[] | undefined;
        readonly podIPs?: readonly string[] | undefined;
      }
    | undefined;
}

/** An informer's cache of Sandboxes. */
export type SandboxCache = Pick<Informer<RoutableSandbox>, 'get'>;

export function routeTable(sandboxes: SandboxCache): Routes {
  return {
    lookup(namespace, name) {
      const sandbox = sandboxes.get({ namespace, name });
      return sandbox && routeOf(sandbox);
    },
  };
}

function routeOf(sandbox: RoutableSandbox): Route | undefined {
  // A member of a warm pool keeps this label until a claim adopts it; nobody may enter before.
  if (sandbox.metadata.labels?.[warmPoolLabel] !== undefined) return undefined;
  const ready = findCondition(sandbox.status?.conditions, 'Ready');
  const podIps = sandbox.status?.podIPs ?? [];
  const terminating = isTerminating(sandbox);
  return {
    uid: sandbox.metadata.uid,
    claimUid: claimUidOf(sandbox),
    podIps,
    isReady: ready?.status === 'True' && podIps.length > 0 && !terminating,
    reason: terminating ? 'Terminating' : (ready?.reason ?? 'Pending'),
    message: terminating ? 'Sandbox is being deleted' : (ready?.message ?? 'Sandbox has no status yet'),
  };
}

function claimUidOf(sandbox: KubeObject): string | undefined {
  const owner = controllerOf(sandbox);
  return owner?.kind === 'SandboxClaim' && owner.apiVersion.startsWith(`${extensionsGroup}/`)
    ? owner.uid
    : undefined;
}
