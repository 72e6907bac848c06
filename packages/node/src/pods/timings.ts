/** Where the time of a pod's start went. Kept in memory for the pods that exist. */

/** In the order they are passed. `seen` is zero. */
export const stages = ['seen', 'prepared', 'created', 'started', 'ready'] as const;
export type Stage = (typeof stages)[number];

/** Milliseconds since the agent first saw the pod. */
export type StageTimes = Readonly<Partial<Record<Stage, number>>>;

export interface PodTiming {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly times: StageTimes;
}

export class PodTimings {
  readonly #starts = new Map<string, number>();
  readonly #records = new Map<string, PodTiming>();
  readonly #onStage: (timing: PodTiming, stage: Stage) => void;

  constructor(onStage: (timing: PodTiming, stage: Stage) => void = () => {}) {
    this.#onStage = onStage;
  }

  /** Only the first passing of a stage counts: restarts are not starts. */
  mark(pod: Omit<PodTiming, 'times'>, stage: Stage): void {
    const start = this.#starts.get(pod.uid) ?? performance.now();
    this.#starts.set(pod.uid, start);
    const before = this.#records.get(pod.uid)?.times ?? {};
    if (before[stage] !== undefined) return;
    const times = { ...before, [stage]: Math.round((performance.now() - start) * 100) / 100 };
    const timing = { uid: pod.uid, namespace: pod.namespace, name: pod.name, times };
    this.#records.set(pod.uid, timing);
    this.#onStage(timing, stage);
  }

  get(uid: string): StageTimes | undefined {
    return this.#records.get(uid)?.times;
  }

  forget(uid: string): void {
    this.#starts.delete(uid);
    this.#records.delete(uid);
  }
}
