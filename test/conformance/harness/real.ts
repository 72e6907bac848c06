/** The judge: a real kube-apiserver with its controllers, from the rig. */
import { openKubeRig } from '../../../rigs/kube/index.ts';
import type { Target } from './target.ts';
import { openWire } from './wire.ts';

export interface RealServer extends AsyncDisposable {
  readonly target: Target;
}

export async function openRealServer(signal: AbortSignal, say: (line: string) => void): Promise<RealServer> {
  await using opened = new AsyncDisposableStack();
  // Often enough for a case to see a revision expire, seldom enough for the others never to.
  const apiserverFlags = ['--etcd-compaction-interval=20s'];
  const rig = opened.use(await openKubeRig({ signal, say, apiserverFlags }));
  const wire = opened.use(openWire({ url: rig.url, ca: rig.ca, token: rig.adminToken }));
  const close = opened.move();
  return {
    target: { name: 'real', can: () => true, send: wire.send, watch: wire.watch },
    [Symbol.asyncDispose]: () => close.disposeAsync(),
  };
}
