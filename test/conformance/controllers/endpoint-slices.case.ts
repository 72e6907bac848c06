import {
  type EndpointSlice,
  endpointSlices,
  type KubeObject,
  pods,
  type Service,
  services,
} from '@hutch/kube-meta';
import { area } from './case.ts';
import type { Scene } from './scene.ts';

const app = { metadata: { labels: { app: 'web' } } };

async function makeService(scene: Scene, spec: Partial<Service['spec']> = {}, labels = {}): Promise<Service> {
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  return await scene.make<Service>(services, 'web', {
    metadata: { labels },
    spec: { selector: { app: 'web' }, ports, ...spec },
  });
}

const endpointsOf = (slices: readonly EndpointSlice[]) => slices.flatMap(({ endpoints }) => endpoints ?? []);

/** Everything of a slice that a client may rely on; order is nobody's promise. */
function shapeOf(slice: EndpointSlice) {
  const ports = (slice.ports ?? []).toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
  const endpoints = (slice.endpoints ?? []).map(({ targetRef, ...rest }) => ({
    ...rest,
    targetRef: { kind: targetRef?.kind, namespace: targetRef?.namespace, name: targetRef?.name },
  }));
  return {
    labels: slice.metadata.labels,
    owners: slice.metadata.ownerReferences?.map(({ uid: _, ...owner }) => owner),
    generateName: slice.metadata.generateName,
    addressType: slice.addressType,
    ports,
    endpoints: endpoints.toSorted((a, b) => ((a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1)),
  };
}

async function settled(scene: Scene, isWanted: (slices: readonly EndpointSlice[]) => boolean) {
  const slices = await scene.untilAll<EndpointSlice>(
    endpointSlices,
    (all) => all.length > 0 && isWanted(all),
  );
  const shapes = slices.map(shapeOf);
  return shapes.toSorted((a, b) => (JSON.stringify(a.ports) < JSON.stringify(b.ports) ? -1 : 1));
}

const hasEndpoints = (count: number) => (slices: readonly EndpointSlice[]) =>
  endpointsOf(slices).length === count;
const allReady = (slices: readonly EndpointSlice[]) =>
  endpointsOf(slices).every(({ conditions }) => conditions?.ready === true);

export const slices = area('endpoint slices', (add) => {
  add('a service without pods has one empty slice', async (scene) => {
    await makeService(scene, {}, { team: 'x' });
    return await settled(scene, () => true);
  });

  add('a ready pod is an endpoint', async (scene) => {
    await makeService(scene);
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1' });
    return await settled(scene, (all) => hasEndpoints(1)(all) && allReady(all));
  });

  add('a pod that is not ready is one too, and says so', async (scene) => {
    await makeService(scene);
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1', ready: false });
    return await settled(scene, hasEndpoints(1));
  });

  add('addresses can be published before they are ready', async (scene) => {
    await makeService(scene, { publishNotReadyAddresses: true });
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1', ready: false });
    return await settled(scene, hasEndpoints(1));
  });

  add('a pod on its way out still serves', async (scene) => {
    await makeService(scene);
    const spec = { terminationGracePeriodSeconds: 600 };
    await scene.makeRunningPod('a', { ...app, spec, ip: '10.1.0.1' });
    await settled(scene, (all) => hasEndpoints(1)(all) && allReady(all));
    await scene.client.delete(pods, scene.key(pods, 'a'), { signal: scene.signal });
    return await settled(scene, (all) => endpointsOf(all).some(({ conditions }) => conditions?.terminating));
  });

  add('a pod that is gone is taken out, and the empty slice is back', async (scene) => {
    await makeService(scene);
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1' });
    await settled(scene, hasEndpoints(1));
    await scene.endPod('a');
    return await settled(scene, hasEndpoints(0));
  });

  add('a finished pod is no endpoint', async (scene) => {
    await makeService(scene);
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1' });
    await settled(scene, hasEndpoints(1));
    await scene.patch(pods, 'a', { status: { phase: 'Succeeded' } }, 'status');
    return await settled(scene, hasEndpoints(0));
  });

  add('ports by name are looked up in every pod', async (scene) => {
    await makeService(scene, {
      ports: [
        { name: 'web', port: 80, targetPort: 'http' },
        { name: 'more', port: 90, targetPort: 9090, appProtocol: 'example.test/p' },
        { name: 'absent', port: 91, targetPort: 'nowhere' },
      ],
    });
    const withPort = (containerPort: number) => ({
      containers: [{ name: 'c', image: 'example.test/i', ports: [{ name: 'http', containerPort }] }],
    });
    await scene.makeRunningPod('a', { ...app, spec: withPort(8080), ip: '10.1.0.1' });
    await scene.makeRunningPod('b', { ...app, spec: withPort(8081), ip: '10.1.0.2' });
    return await settled(scene, (all) => hasEndpoints(2)(all) && allReady(all) && all.length === 2);
  });

  add('a headless service without ports has endpoints', async (scene) => {
    await scene.make<Service>(services, 'web', { spec: { clusterIP: 'None', selector: { app: 'web' } } });
    const spec = { hostname: 'first', subdomain: 'web' };
    await scene.makeRunningPod('a', { ...app, spec, ip: '10.1.0.1' });
    return await settled(scene, (all) => hasEndpoints(1)(all) && allReady(all));
  });

  add('a service without a selector is left alone', async (scene) => {
    await scene.make<Service>(services, 'bare', { spec: { ports: [{ port: 80 }] } });
    await makeService(scene);
    return (await settled(scene, () => true)).map(({ labels }) => labels);
  });

  add('labels of the service follow it', async (scene) => {
    await makeService(scene, {}, { team: 'x', old: 'yes' });
    await settled(scene, () => true);
    await scene.patch(services, 'web', { metadata: { labels: { team: 'y', old: null } } });
    // A real controller writes them when it writes the slice for some other reason, too.
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1' });
    return await settled(scene, (all) => hasEndpoints(1)(all) && all[0]?.metadata.labels?.team === 'y');
  });

  add('a pod that changes its labels changes sides', async (scene) => {
    await makeService(scene);
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1' });
    await settled(scene, hasEndpoints(1));
    await scene.patch(pods, 'a', { metadata: { labels: { app: 'other' } } });
    await settled(scene, hasEndpoints(0));
    await scene.patch(services, 'web', { spec: { selector: { app: 'other' } } });
    return await settled(scene, (all) => hasEndpoints(1)(all) && allReady(all));
  });

  add('what was changed or deleted by hand is put right', async (scene) => {
    await makeService(scene);
    await scene.makeRunningPod('a', { ...app, ip: '10.1.0.1' });
    await settled(scene, (all) => hasEndpoints(1)(all) && allReady(all));
    const [slice] = await scene.untilAll<EndpointSlice>(endpointSlices, hasEndpoints(1));
    const { uid = '', name = '' } = slice?.metadata ?? {};
    await scene.client.delete(endpointSlices, { namespace: scene.namespace, name }, { signal: scene.signal });
    const isNew = (all: readonly KubeObject[]) => all.every(({ metadata }) => metadata.uid !== uid);
    return await settled(scene, (all) => isNew(all) && hasEndpoints(1)(all) && allReady(all));
  });

  add('the slices of a deleted service go with it', async (scene) => {
    await makeService(scene);
    await settled(scene, () => true);
    await scene.delete(services, 'web');
    await scene.untilAll(endpointSlices, (all) => all.length === 0);
    return 'gone';
  });

  add('more than a hundred endpoints take more than one slice', async (scene) => {
    await makeService(scene);
    const numbers = Array.from({ length: 105 }, (_, index) => index + 1);
    for (const n of numbers) await scene.makePod(`p${n}`, app);
    for (const n of numbers) await scene.showPod(`p${n}`, { ip: `10.1.0.${n}`, ready: true });
    const all = await scene.untilAll<EndpointSlice>(
      endpointSlices,
      (seen) => hasEndpoints(105)(seen) && allReady(seen) && seen.length > 1,
    );
    return { slices: all.length, isAnyTooFull: all.some(({ endpoints }) => (endpoints?.length ?? 0) > 100) };
  });
});
