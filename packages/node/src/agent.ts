/**
 * The node agent: what a kubelet is to a cluster, for one machine and one home. It follows the pods bound to its node
 * and gives each a worker.
 *
 * Flow of `run`: claim the home's network → read the ledger → follow pods; the first list tells which of the ledger's
 * pods still exist (they are adopted) and which are orphans (they are removed).
 * Guarantees: containers outlive the agent. `run` ending, or the process dying, changes nothing for them.
 * Assumes: one agent per data directory; the app sees to that.
 */
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { Backoff, type Clock, Fault, type Log, runTogether } from '@hutch/base';
import { createEventRecorder, type Followed, follow } from '@hutch/controller';
import type { KubeClient } from '@hutch/kube-client';
import { keyOf, keyText, type ObjectKey, type Pod, pods } from '@hutch/kube-meta';
import { requireTools } from './command.ts';
import { ConmonRuntime } from './containers/conmon-runtime.ts';
import { kernelLimitHooks, readKernelLimits } from './containers/kernel-limits.ts';
import { type LogOptions, readLog } from './containers/logs.ts';
import { type DefaultLimits, defaultLimits } from './containers/resources.ts';
import { chooseRootPath } from './containers/root.ts';
import { firstUid, type NodeContext } from './context.ts';
import { homeLayout } from './home.ts';
import { type BuiltinImage, builtinImages } from './images/builtin-images.ts';
import { Uplinks } from './network/home-network.ts';
import { Slots } from './network/slots.ts';
import { openHome, probeUserNamespace } from './open-home.ts';
import { publicNameservers } from './pods/etc-files.ts';
import { type LedgerEntry, readLedger } from './pods/ledger.ts';
import { removeRecordedPod } from './pods/remove-pod.ts';
import { type PodTiming, PodTimings, type Stage, type StageTimes } from './pods/timings.ts';
import { PodWorker } from './pods/worker.ts';

export interface NodeAgentOptions {
  readonly client: KubeClient;
  /** Pods whose `spec.nodeName` is this are ours. */
  readonly nodeName: string;
  /** The home's own directory. The agent keeps to `node/` in it. */
  readonly dataDir: string;
  /** Shared by all homes of the machine. */
  readonly imageDir: string;
  readonly images: Readonly<Record<string, BuiltinImage>>;
  /** For containers that name no limits. */
  readonly limits?: Partial<DefaultLimits>;
  /** What pods ask for names; the machine's own public ones when absent. */
  readonly nameservers?: readonly string[];
  /** Where else to look for the system tools, in the form of PATH. The usual directories come first. */
  readonly path?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when a pod passes a stage of its start. */
  readonly onStage?: (timing: PodTiming, stage: Stage) => void;
}

export interface ContainerLogOptions extends LogOptions {
  /** May be left out when the pod has one container. */
  readonly container?: string | undefined;
  /** Of the start before the current one. */
  readonly previous?: boolean | undefined;
}

export interface NodeAgent {
  /** Until aborted; containers go on running. Rejects when the home cannot be opened or the API refuses us. */
  run(signal: AbortSignal): Promise<void>;
  /** Where the time of a pod's start went, in milliseconds since the agent saw it. */
  timings(uid: string): StageTimes | undefined;
  readonly streams: {
    /** A `not-found` fault for a pod, container or output that is not here. */
    logs(pod: ObjectKey, options: ContainerLogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>;
  };
}

const runtimeName = 'runc';

export function createNodeAgent(options: NodeAgentOptions): NodeAgent {
  const workers = new Map<string, PodWorker>();
  const timings = new PodTimings(options.onStage);
  return {
    timings: (uid) => timings.get(uid),
    run: async (signal) => {
      const context = await openContext(options, timings);
      try {
        const ledger = await readLedger(context.home, context.log);
        context.slots.keep(ledger.flatMap(({ slot }) => (slot === undefined ? [] : [slot])));
        await runTogether(signal, [
          (inner) => context.events.run(inner),
          (inner) => new PodKeeper(workers, ledger, context).run(inner),
        ]);
      } finally {
        context.runtime.close();
      }
    },
    streams: {
      logs: (key, logOptions, signal) => podLogs(workers, key, logOptions, signal),
    },
  };
}

async function openContext(options: NodeAgentOptions, timings: PodTimings): Promise<NodeContext> {
  const { client, nodeName, dataDir, imageDir, images, clock, log } = options;
  const tools = requireTools(options.path);
  const home = homeLayout(dataDir);
  const directories = Object.values(images).flatMap((image) =>
    image.type === 'directory' ? [image.path] : [],
  );
  const [{ network, containerPrefix }, userNamespace, rootPath, kernelLimits, resolvConf] = await Promise.all(
    [
      openHome(home, dataDir, { tools, log }),
      probeUserNamespace(tools),
      chooseRootPath([dataDir, imageDir, ...directories, ...Object.values(tools)]),
      readKernelLimits(),
      readFile('/etc/resolv.conf', 'utf8').catch(() => ''), // a machine without one has no name servers
    ],
  );
  const idMapping = userNamespace.isUsable ? userNamespace.mapping : undefined;
  const uplinks = new Uplinks(network, { tools, log });
  await uplinks.refresh();
  return {
    nodeName,
    hostIp: machineAddress(),
    home,
    tools,
    network,
    containerPrefix,
    uplinks,
    slots: new Slots(),
    runtime: new ConmonRuntime({ name: runtimeName, program: tools.runc, tools, home, log }),
    rootPath,
    images: builtinImages({ images, imageDir, firstUid: firstUid({ idMapping }) }),
    limits: { ...defaultLimits, ...options.limits },
    nameservers: options.nameservers ?? publicNameservers(resolvConf),
    idMapping,
    hooks: idMapping && kernelLimitHooks(kernelLimits, tools.sh),
    abilities: { hasUserNamespaces: idMapping !== undefined, runtimeClasses: [runtimeName] },
    client,
    events: createEventRecorder({ client, component: 'hutch-node', clock, log }),
    timings,
    clock,
    log,
  };
}

/** The machine's first address that others can see; its own loopback when it has none. */
function machineAddress(): string {
  const all = Object.entries(networkInterfaces()).filter(([name]) => !name.startsWith('hutch'));
  const addresses = all.flatMap(([, list]) => list ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

/** How long a pod whose worker failed may stay without one. */
const maxWorkerPauseMs = 30_000;

/** Keeps one worker for each pod of this node. */
class PodKeeper {
  readonly #workers: Map<string, PodWorker>;
  readonly #running = new Set<Promise<void>>();
  readonly #context: NodeContext;
  /** What an earlier agent left and nobody has claimed yet. */
  readonly #recorded: Map<string, LedgerEntry>;

  constructor(workers: Map<string, PodWorker>, ledger: readonly LedgerEntry[], context: NodeContext) {
    this.#workers = workers;
    this.#context = context;
    this.#recorded = new Map(ledger.map((entry) => [entry.uid, entry]));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, nodeName, clock, log } = this.#context;
    const scope = { fieldSelector: `spec.nodeName=${nodeName}` };
    const backoff = new Backoff(50, 10_000);
    try {
      for await (const change of follow<Pod>(client, pods, scope, { backoff, clock, log, signal })) {
        this.#apply(change, signal);
      }
    } finally {
      await Promise.allSettled(this.#running);
      this.#workers.clear();
    }
  }

  #apply(change: Followed<Pod>, signal: AbortSignal): void {
    switch (change.type) {
      case 'replaced': {
        const uids = new Set(change.objects.map(({ metadata }) => metadata.uid));
        for (const pod of change.objects) this.#see(pod, signal);
        for (const [uid, worker] of this.#workers) if (!uids.has(uid)) worker.gone();
        this.#removeOrphans();
        break;
      }
      case 'deleted':
        this.#workers.get(change.object.metadata.uid)?.gone();
        break;
      case 'added':
      case 'modified':
        this.#see(change.object, signal);
        break;
    }
  }

  #see(pod: Pod, signal: AbortSignal): void {
    if (pod.spec.nodeName !== this.#context.nodeName) return; // a server that does not know the selector
    const { uid } = pod.metadata;
    const known = this.#workers.get(uid);
    if (known) {
      known.update(pod);
      return;
    }
    this.#recorded.delete(uid); // its worker reads the ledger itself
    const worker = new PodWorker(pod, this.#context);
    this.#workers.set(uid, worker);
    this.#own(this.#attend(uid, worker, signal), keyText(keyOf(pod)));
  }

  /**
   * To the pod's end. A worker that fails is a bug, or a machine that is short of something; the others go on, and after a
   * while another takes this pod over, from what the ledger and the API say. Until then the failed one goes on
   * collecting what is said of the pod.
   */
  async #attend(uid: string, first: PodWorker, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    const backoff = new Backoff(100, maxWorkerPauseMs);
    let worker = first;
    while (!signal.aborted) {
      try {
        await worker.run(signal);
        break;
      } catch (err) {
        log.error('pod worker failed', { pod: keyText(keyOf(worker.pod)), err });
      }
      await clock.sleep(backoff.nextMs(), signal).catch(() => {}); // cut short by the end of the agent only
      worker = worker.successor();
      this.#workers.set(uid, worker);
    }
    if (!signal.aborted) this.#workers.delete(uid);
  }

  #own(work: Promise<void>, pod: string): void {
    const owned = work
      .catch((err: unknown) => this.#context.log.error('pod was not attended', { pod, err }))
      .finally(() => this.#running.delete(owned));
    this.#running.add(owned);
  }

  #removeOrphans(): void {
    for (const [uid, entry] of this.#recorded) {
      this.#recorded.delete(uid);
      this.#own(this.#removeOrphan(entry), `${entry.namespace}/${entry.name}`);
    }
  }

  async #removeOrphan(entry: LedgerEntry): Promise<void> {
    const { slots, log } = this.#context;
    const pod = `${entry.namespace}/${entry.name}`;
    const failures = await removeRecordedPod(entry, { ...this.#context, isIndexOurs: true });
    if (failures.length > 0) {
      log.warn('orphan not removed', { pod, failures }); // its address stays taken; the next start tries again
      return;
    }
    if (entry.slot !== undefined) slots.give(entry.slot);
    log.info('orphan removed', { pod });
  }
}

async function* podLogs(
  workers: ReadonlyMap<string, PodWorker>,
  key: ObjectKey,
  options: ContainerLogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const worker = [...workers.values()].find(({ pod }) => keyText(keyOf(pod)) === keyText(key));
  if (!worker) throw new Fault('not-found', `read logs of pod ${keyText(key)}: it is not on this node`);
  const [only, ...others] = worker.pod.spec.containers;
  const container = options.container ?? (others.length === 0 ? only?.name : undefined);
  if (container === undefined) {
    throw new Fault('invalid', `read logs of pod ${keyText(key)}: it has several containers, name one`);
  }
  const output = worker.output(container, options.previous === true);
  if (!output) throw new Fault('not-found', `read logs of pod ${keyText(key)}: no container ${container}`);
  yield* readLog(output, options, signal);
}
