/**
 * The things a pod is made of on this machine: its network, volumes and containers. Knows how to make, find and
 * remove them, and nothing of when.
 */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, messageOf } from '@hutch/base';
import type { Container, Pod } from '@hutch/kube-meta';
import { prepareRoot } from '../containers/root.ts';
import type { ContainerPlace, Sight } from '../containers/runtime.ts';
import { desiredSpec, desiredUser } from '../containers/spec.ts';
import { firstUid, type NodeContext } from '../context.ts';
import { isErrno } from '../files.ts';
import { containerDirectory, type PodLayout, podLayout } from '../home.ts';
import type { Image } from '../images/image.ts';
import { type PodNetworkPlan, podNetworkPlan } from '../network/plan.ts';
import { attachHost, closePodNetwork, openPodNetwork } from '../network/pod-network.ts';
import { removeTrees } from '../remove-trees.ts';
import { prepareVolumes, type VolumeSource, volumeMounts } from '../volumes/volumes.ts';
import { desiredArgs, desiredEnvironment } from './environment.ts';
import { desiredEtcFiles } from './etc-files.ts';
import { readLedgerEntry, recordedContainers, writeLedger } from './ledger.ts';
import { containerIdOf } from './remove-pod.ts';

/** The kernel's mark of a mounted namespace file. */
const nsfsMagic = 0x6e736673;
/** Output of this many earlier starts is kept beside the current one. */
const keptAttempts = 1;

const logFile = 'output.log';

/** What set-up has begun. `start` waits for each part where it needs it, so that they overlap with its own work. */
interface Standing {
  readonly network: PodNetworkPlan;
  readonly opened: Promise<void>;
  readonly attached: Promise<void>;
  readonly volumes: Promise<ReadonlyMap<string, VolumeSource>>;
}

export interface FoundContainer {
  readonly name: string;
  readonly attempt: number;
  readonly sight: Sight;
}

export class PodBody {
  readonly #context: NodeContext;
  readonly #uid: string;
  readonly #layout: PodLayout;
  #slot: number | undefined;
  #standing: Standing | undefined;

  constructor(uid: string, context: NodeContext) {
    this.#context = context;
    this.#uid = uid;
    this.#layout = podLayout(context.home, uid);
  }

  get isSetUp(): boolean {
    return this.#slot !== undefined;
  }

  get ip(): string | undefined {
    return this.#slot === undefined ? undefined : podNetworkPlan(this.#context.network, this.#slot).ip;
  }

  containerId(name: string, attempt: number): string {
    return containerIdOf(this.#context.containerPrefix, this.#uid, name, attempt);
  }

  place(name: string, attempt: number): ContainerPlace {
    return {
      id: this.containerId(name, attempt),
      directory: containerDirectory(this.#layout, name, attempt),
    };
  }

  logPath(name: string, attempt: number): string {
    return join(this.place(name, attempt).directory, logFile);
  }

  /**
   * What an earlier agent left, the latest start of each container. If the network is not there (a reboot took it) or may
   * be half made (no container was ever started in it) the rest goes too, and the pod is set up anew.
   */
  async adopt(pod: Pod, signal: AbortSignal): Promise<FoundContainer[]> {
    const recorded = await readLedgerEntry(this.#layout, this.#context.log);
    this.#slot = recorded?.slot;
    const found = await this.#findContainers();
    // none of a pod that is over, or of which the ledger knows nothing: what runs all the same was lost by it
    if (this.#slot === undefined && !found.some(({ sight }) => sight.type === 'running')) return found;
    const wasStarted = found.some(({ sight }) => sight.type !== 'absent');
    if (this.#slot !== undefined && wasStarted && (await this.#hasNetwork(this.#slot))) {
      const network = podNetworkPlan(this.#context.network, this.#slot);
      await attachHost(network, { home: this.#context.network, tools: this.#context.tools, signal });
      this.#stand(pod, this.#slot, Promise.resolve(), Promise.resolve(), signal);
    } else await this.tearDown(pod);
    return found;
  }

  /** All but the ones that run as they should are ended for good: nobody may have seen to that when they stopped. */
  async #findContainers(): Promise<FoundContainer[]> {
    const { runtime } = this.#context;
    const all = await recordedContainers(this.#layout);
    const latest = new Map(all.map((recorded) => [recorded.name, recorded]));
    const found: FoundContainer[] = [];
    for (const recorded of all) {
      const { name, attempt } = recorded;
      const place = this.place(name, attempt);
      const sight = await runtime.look(place);
      const isLatest = latest.get(name) === recorded;
      if (!isLatest || sight.type !== 'running') await runtime.remove(place);
      if (isLatest) found.push({ name, attempt, sight });
    }
    return found;
  }

  async #hasNetwork(slot: number): Promise<boolean> {
    const { link } = podNetworkPlan(this.#context.network, slot);
    if (!existsSync(`/sys/class/net/${link}`)) return false;
    try {
      return (await statfs(this.#layout.netns)).type === nsfsMagic;
    } catch (err) {
      if (isErrno(err, 'ENOENT', 'ENOTDIR')) return false;
      throw err;
    }
  }

  /** Returns as soon as the ledger knows; the making goes on beside what follows. */
  setUp(pod: Pod, signal: AbortSignal): void {
    const slot = this.#slot ?? this.#context.slots.take();
    this.#slot = slot;
    this.#record(pod, slot);
    const network = podNetworkPlan(this.#context.network, slot);
    const context = { home: this.#context.network, tools: this.#context.tools, signal };
    const opened = openPodNetwork(network, this.#layout.netns, context);
    const uplinks = this.#context.uplinks.refresh();
    const attached = opened.then(() => attachHost(network, context)).then(() => uplinks);
    this.#stand(pod, slot, opened, attached, signal);
  }

  #stand(pod: Pod, slot: number, opened: Promise<void>, attached: Promise<void>, signal: AbortSignal): void {
    const { images } = this.#context;
    const directory = this.#layout.volumes;
    const volumes = prepareVolumes(pod, { directory, firstUid: firstUid(this.#context), images, signal });
    // `start` awaits them; until it does, a failure must not count as unhandled
    for (const work of [opened, attached, volumes]) work.catch(() => {});
    this.#standing = { network: podNetworkPlan(this.#context.network, slot), opened, attached, volumes };
  }

  #record({ metadata }: Pod, slot: number | undefined): void {
    const { name, namespace = 'default' } = metadata;
    writeLedger(this.#layout, { uid: this.#uid, namespace, name, slot });
  }

  /**
   * Creates and starts one container, and resolves with the time of the start. An `invalid` fault: it can never start as it is written; `not-found`: its image,
   * or a volume's, does not exist here.
   */
  async start(
    pod: Pod,
    container: Container,
    attempt: number,
    options: { readonly signal: AbortSignal; readonly onStage: (stage: 'prepared' | 'created') => void },
  ): Promise<string> {
    const { signal, onStage } = options;
    const { runtime } = this.#context;
    const standing = this.#standing;
    if (!standing) throw new Fault('internal', `start container ${container.name}: the pod is not set up`);
    const image = await this.#context.images.resolve(container.image ?? '', signal);
    requireNonRoot(pod, container, image);
    const place = this.place(container.name, attempt);
    await this.#clear(container.name, attempt);
    prepareRoot({
      directory: place.directory,
      lower: image.directory,
      firstUid: firstUid(this.#context),
      files: desiredEtcFiles(pod, standing.network.ip, this.#context.nameservers),
    });
    const [volumes] = await Promise.all([standing.volumes, standing.opened]);
    onStage('prepared');
    await runtime.create(
      {
        ...place,
        spec: this.#spec(pod, container, image, { place, ip: standing.network.ip, volumes }),
        rootPath: this.#context.rootPath,
        netns: this.#layout.netns,
        logPath: join(place.directory, logFile),
        hasTerminal: container.tty === true,
        hasStdin: container.stdin === true,
      },
      signal,
    );
    onStage('created');
    await standing.attached;
    return await runtime.start(place, signal);
  }

  #spec(
    pod: Pod,
    container: Container,
    image: Image,
    at: { place: ContainerPlace; ip: string; volumes: ReadonlyMap<string, VolumeSource> },
  ) {
    const { hostIp, limits, idMapping, hooks, rootPath } = this.#context;
    const variables = desiredEnvironment(pod, container, image, { podIp: at.ip, hostIp });
    return desiredSpec({
      pod,
      container,
      image,
      id: at.place.id,
      rootPath,
      netns: this.#layout.netns,
      volumeMounts: volumeMounts(container, at.volumes),
      env: [...variables].map(([name, value]) => `${name}=${value}`),
      args: desiredArgs(container, image, variables),
      limits,
      idMapping,
      hooks,
    });
  }

  /**
   * Ends every earlier start, since no two may run at once: an earlier one could hold the port this one needs. A start that
   * was cut short left its directory; those of starts long past need not be kept.
   */
  async #clear(name: string, attempt: number): Promise<void> {
    const earlier = (await recordedContainers(this.#layout)).filter((other) => other.name === name);
    for (const { attempt: old, directory } of earlier) {
      await this.#context.runtime.remove(this.place(name, old));
      const isStale = old === attempt || old < attempt - keptAttempts;
      if (isStale) await removeTrees([directory], this.#context.tools);
    }
  }

  /** Gives back what a container that ended still holds; output and exit status stay. */
  async discard(name: string, attempt: number): Promise<void> {
    await this.#context.runtime.remove(this.place(name, attempt));
  }

  /** Resolves when nothing is in the making any more: only then may it be removed, or left to another. */
  async settled(): Promise<void> {
    const { opened, attached, volumes } = this.#standing ?? {};
    await Promise.allSettled([opened, attached, volumes]);
  }

  /**
   * Idempotent; goes on after a failure and tells all of them. Output and exit statuses stay, and so do the volumes while
   * a container that may write to them could not be ended: it could lead a removal by path astray.
   */
  async tearDown(pod: Pod): Promise<void> {
    await this.settled();
    const results = await this.#endContainers();
    const hasEnded = results.every(({ status }) => status === 'fulfilled');
    results.push(...(await Promise.allSettled([this.#closeNetwork()])));
    if (hasEnded) {
      const removal = removeTrees([this.#layout.volumes], this.#context.tools);
      results.push(...(await Promise.allSettled([removal])));
    }
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    if (failures.length > 0) {
      throw new Fault(
        'internal',
        `tear down pod ${pod.metadata.name}: ${failures.map(messageOf).join('; ')}`,
      );
    }
    const slot = this.#slot;
    this.#slot = undefined;
    this.#standing = undefined;
    this.#record(pod, undefined);
    if (slot !== undefined) this.#context.slots.give(slot);
  }

  /** After a failed start: the network may be what failed. Not when another container lives in it. */
  async tearDownUnlessRunning(pod: Pod, isAnyRunning: boolean): Promise<void> {
    if (!isAnyRunning) await this.tearDown(pod);
  }

  async #closeNetwork(): Promise<void> {
    if (this.#slot === undefined) return;
    const { link } = podNetworkPlan(this.#context.network, this.#slot);
    await closePodNetwork(link, this.#layout.netns, this.#context.tools);
  }

  async #endContainers(): Promise<PromiseSettledResult<void>[]> {
    const recorded = await recordedContainers(this.#layout);
    const places = recorded.map(({ name, attempt }) => this.place(name, attempt));
    return await Promise.allSettled(places.map((place) => this.#context.runtime.remove(place)));
  }

  /** The last trace, without which nobody would know of a process of the pod: so none may be left. */
  async forget(): Promise<void> {
    const failed = (await this.#endContainers()).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    await removeTrees([this.#layout.root], this.#context.tools);
  }
}

function requireNonRoot(pod: Pod, container: Container, image: Image): void {
  const must = container.securityContext?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot ?? false;
  if (must && desiredUser(pod, container, image).uid === 0) {
    throw new Fault('invalid', `container ${container.name} has runAsNonRoot and would run as root`);
  }
}
