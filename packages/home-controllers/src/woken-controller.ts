import type { Clock, Log } from '@hutch/base';
import { type Change, type Informer, type Reconcile, runController, WorkQueue } from '@hutch/controller';
import { type KubeObject, keyOf, type ObjectKey } from '@hutch/kube-meta';

/** Names keys to look at as things happen, until it is told to stop. */
export type Wake = (lookAt: (key: ObjectKey) => void) => () => void;

export interface WokenController {
  readonly name: string;
  /** All that can make a key worth looking at. Nothing else does: there is no resync. */
  readonly wakes: readonly Wake[];
  /** Copies that must be whole before the first decision: those whose silence would be read as absence. */
  readonly needs?: readonly { readonly synced: Promise<void> }[];
  readonly workers?: number;
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly log: Log;
}

/** Listens at once, works when the copies it needs are whole, and stops listening when aborted. */
export async function runWoken(controller: WokenController, signal: AbortSignal): Promise<void> {
  const { wakes, needs = [], workers = 2 } = controller;
  const queue = new WorkQueue({ clock: controller.clock });
  const stops = wakes.map((wake) => wake((key) => queue.add(key)));
  try {
    await Promise.all(needs.map(({ synced }) => synced));
    await runController({ ...controller, queue, workers }, signal);
  } finally {
    for (const stop of stops) stop();
  }
}

/** Every change of a kind, as the keys it concerns. */
export function wakeOn<T extends KubeObject>(
  informer: Informer<T>,
  keysOf: (change: Change<T>) => Iterable<ObjectKey>,
): Wake {
  return (lookAt) =>
    informer.onChange((change) => {
      for (const key of keysOf(change)) lookAt(key);
    });
}

/** The object that changed, while it exists. */
export function itself<T extends KubeObject>({ type, object }: Change<T>): readonly ObjectKey[] {
  return type === 'deleted' ? [] : [keyOf(object)];
}
