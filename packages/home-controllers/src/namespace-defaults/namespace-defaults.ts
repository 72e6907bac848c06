/** Keeps in every namespace what pods expect to find there. What is deleted or changed comes back. */
import { type Clock, ignoring, type Log, unreachable } from '@hutch/base';
import type { Reconcile } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { type ConfigMap, configMaps, type ServiceAccount, serviceAccounts } from '@hutch/kube-meta';
import type { HomeInformers } from '../home-informers.ts';
import { unlessTerminating } from '../terminating-namespace.ts';
import { itself, runWoken, wakeOn } from '../woken-controller.ts';
import { type Action, decide, defaultAccountName, rootCaName } from './decide.ts';

export interface NamespaceDefaultsDeps {
  readonly client: KubeClient;
  readonly informers: Pick<HomeInformers, 'namespaces' | 'serviceAccounts' | 'configMaps'>;
  readonly rootCa: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export async function runNamespaceDefaults(deps: NamespaceDefaultsDeps, signal: AbortSignal): Promise<void> {
  const { namespaces, serviceAccounts, configMaps } = deps.informers;
  const wakes = [
    wakeOn(namespaces, itself),
    wakeOn(serviceAccounts, ({ type, object: { metadata } }) =>
      type === 'deleted' && metadata.name === defaultAccountName ? [{ name: metadata.namespace ?? '' }] : [],
    ),
    wakeOn(configMaps, ({ object: { metadata } }) =>
      metadata.name === rootCaName ? [{ name: metadata.namespace ?? '' }] : [],
    ),
  ];
  const needs = [serviceAccounts, configMaps];
  const reconcile = namespaceDefaulter(deps);
  await runWoken({ ...deps, name: 'namespace-defaults', wakes, needs, reconcile }, signal);
}

function namespaceDefaulter({ client, informers, rootCa }: NamespaceDefaultsDeps): Reconcile {
  return async ({ name: namespace }, { signal }) => {
    const found = informers.namespaces.get({ name: namespace });
    if (!found) return {};
    const actions = decide({
      namespace: found,
      account: informers.serviceAccounts.get({ namespace, name: defaultAccountName }),
      rootCaMap: informers.configMaps.get({ namespace, name: rootCaName }),
      rootCa,
    });
    for (const action of actions) await unlessTerminating(apply(client, action, signal));
    return {};
  };
}

/** A copy that is behind makes us ask twice: then it is there already. */
async function apply(client: KubeClient, action: Action, signal: AbortSignal): Promise<void> {
  switch (action.type) {
    case 'create-account':
      await ignoring(
        'already-exists',
        client.create<ServiceAccount>(serviceAccounts, action.draft, { signal }),
      );
      return;
    case 'create-map':
      await ignoring('already-exists', client.create<ConfigMap>(configMaps, action.draft, { signal }));
      return;
    case 'write-map':
      await ignoring('not-found', client.update(configMaps, action.map, { signal }));
      return;
    default:
      unreachable(action);
  }
}
