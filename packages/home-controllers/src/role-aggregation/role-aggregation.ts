/** Cluster roles that are the sum of others: written anew whenever one of their parts changes. */
import { type Clock, ignoring, type Log } from '@hutch/base';
import type { Informer } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { type ClusterRole, clusterRoles, keyOf } from '@hutch/kube-meta';
import { runWoken, wakeOn } from '../woken-controller.ts';
import { decide } from './decide.ts';

export interface RoleAggregationDeps {
  readonly client: KubeClient;
  readonly roles: Informer<ClusterRole>;
  readonly clock: Clock;
  readonly log: Log;
}

export async function runRoleAggregation(deps: RoleAggregationDeps, signal: AbortSignal): Promise<void> {
  const { client, roles } = deps;
  // Any role may become part of any sum, and there are few sums.
  const sums = () => roles.list().filter(({ aggregationRule }) => aggregationRule !== undefined);
  const wakes = [wakeOn(roles, () => sums().map(keyOf))];
  await runWoken(
    {
      ...deps,
      name: 'role-aggregation',
      wakes,
      needs: [roles],
      async reconcile(key, { signal }) {
        const role = roles.get(key);
        const rules = role && decide(role, roles.list());
        if (!rules) return {};
        const patch = { metadata: { resourceVersion: role.metadata.resourceVersion }, rules };
        await ignoring('not-found', client.patch(clusterRoles, key, patch, { signal }));
        return {};
      },
    },
    signal,
  );
}
