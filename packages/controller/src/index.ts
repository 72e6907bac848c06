// The whole surface of @hutch/controller.
export {
  type ControllerOptions,
  type Reconcile,
  type ReconcileContext,
  type ReconcileResult,
  runController,
} from './control-loop.ts';
export {
  createEventRecorder,
  type EventNote,
  type EventRecorder,
  type EventRecorderOptions,
} from './event-recorder.ts';
export { type Followed, type FollowOptions, follow, type Scope } from './follow.ts';
export {
  type Change,
  type ChangeListener,
  createInformer,
  type Informer,
  type InformerOptions,
} from './informer.ts';
export type { IndexOf } from './store.ts';
export { type Lease, WorkQueue, type WorkQueueOptions } from './work-queue.ts';
