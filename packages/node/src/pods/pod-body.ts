/**
 * The things a pod is made of on this machine: its network, volumes and containers. Knows how to make, find and
 * remove them, and nothing of when.
 */
import { rm, statfs } from 'node:fs/promises';
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
    return containerIdOf(this.#context.network, this.#uid, name, attempt);
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
   * What an earlier agent left, the latest start of each container. If the network is not there (a reboot took it, or it
   * was never finished) nothing can be running in it: the rest goes too, and the pod is set up anew.
   */
  async adopt(pod: Pod, signal: AbortSignal): Promise<FoundContainer[]> {
    const recorded = await readLedgerEntry(this.#layout, this.#context.log);
    this.#slot = recorded?.slot;
    const latest = new Map((await recordedContainers(this.#layout)).map((found) => [found.name, found]));
    const found: FoundContainer[] = [];
    for (const { name, attempt } of latest.values()) {
      found.push({ name, attempt, sight: await this.#context.runtime.look(this.place(name, attempt)) });
    }
    // none of a pod that is over, or of which the ledger knows nothing: what runs all the same was lost by it
    if (this.#slot === undefined && !found.some(({ sight }) => sight.type === 'running')) return found;
    if (this.#slot !== undefined && (await this.#hasNetwork())) {
      this.#stand(pod, this.#slot, Promise.resolve(), Promise.resolve(), signal);
    } else await this.tearDown(pod);
    return found;
  }

  async #hasNetwork(): Promise<boolean> {
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
    const { hostIp, limits, idMapping, rootPath } = this.#context;
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
    });
  }

  /** A start that was cut short left its directory; starts long past need not be kept. */
  async #clear(name: string, attempt: number): Promise<void> {
    const recorded = await recordedContainers(this.#layout);
    const stale = recorded.filter(
      (other) => other.name === name && (other.attempt === attempt || other.attempt < attempt - keptAttempts),
    );
    for (const { attempt: old, directory } of stale) {
      await this.#context.runtime.remove(this.place(name, old)); // nothing may write below what we are about to remove
      await rm(directory, { recursive: true, force: true });
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
    const places = (await recordedContainers(this.#layout)).map(({ name, attempt }) =>
      this.place(name, attempt),
    );
    const results = await Promise.allSettled(places.map((place) => this.#context.runtime.remove(place)));
    const hasEnded = results.every(({ status }) => status === 'fulfilled');
    results.push(...(await Promise.allSettled([this.#closeNetwork()])));
    if (hasEnded) {
      const removal = rm(this.#layout.volumes, { recursive: true, force: true });
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

  /** The last trace. */
  async forget(): Promise<void> {
    await rm(this.#layout.root, { recursive: true, force: true });
  }
}

function requireNonRoot(pod: Pod, container: Container, image: Image): void {
  const must = container.securityContext?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot ?? false;
  if (must && desiredUser(pod, container, image).uid === 0) {
    throw new Fault('invalid', `container ${container.name} has runAsNonRoot and would run as root`);
  }
}
