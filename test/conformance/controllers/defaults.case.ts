import { type ConfigMap, configMaps, type ServiceAccount, serviceAccounts } from '@hutch/kube-meta';
import { area } from './case.ts';

const rootCa = 'kube-root-ca.crt';
const description = 'kubernetes.io/description';

/** The authority itself differs from cluster to cluster. */
const shapeOf = (map: ConfigMap | undefined) => ({
  keys: Object.keys(map?.data ?? {}),
  annotations: Object.keys(map?.metadata.annotations ?? {}),
  isFilled: Boolean(map?.data?.['ca.crt']),
});

export const defaults = area('namespace defaults', (add) => {
  add('a new namespace has an account and the authority', async (scene) => {
    const account = await scene.until<ServiceAccount>(
      serviceAccounts,
      'default',
      (found) => found !== undefined,
    );
    const map = await scene.until<ConfigMap>(configMaps, rootCa, (found) => found !== undefined);
    return { account: Object.keys(account?.metadata.labels ?? {}), map: shapeOf(map) };
  });

  add('a deleted account comes back', async (scene) => {
    const first = await scene.until(serviceAccounts, 'default', (found) => found !== undefined);
    await scene.delete(serviceAccounts, 'default');
    const uid = first?.metadata.uid;
    await scene.until(
      serviceAccounts,
      'default',
      (found) => found !== undefined && found.metadata.uid !== uid,
    );
    return 'back';
  });

  add('a deleted authority comes back', async (scene) => {
    const first = await scene.until(configMaps, rootCa, (found) => found !== undefined);
    await scene.delete(configMaps, rootCa);
    const uid = first?.metadata.uid;
    const again = await scene.until<ConfigMap>(
      configMaps,
      rootCa,
      (found) => found !== undefined && found.metadata.uid !== uid,
    );
    return shapeOf(again);
  });

  add('an authority that was changed is mended', async (scene) => {
    const first = await scene.until<ConfigMap>(configMaps, rootCa, (found) => found !== undefined);
    const right = first?.data?.['ca.crt'];
    const spoiled = {
      metadata: { annotations: { [description]: null } },
      data: { 'ca.crt': 'no', more: 'x' },
    };
    await scene.patch(configMaps, rootCa, spoiled);
    const isRight = (found: ConfigMap | undefined) =>
      found?.data?.['ca.crt'] === right && found?.data?.more === undefined;
    return shapeOf(await scene.until<ConfigMap>(configMaps, rootCa, isRight));
  });
});
