// The whole surface of @hutch/node.
export {
  type ContainerLogOptions,
  createNodeAgent,
  type NodeAgent,
  type NodeAgentOptions,
} from './agent.ts';
export { requireTools, type Tools } from './command.ts';
export type { LogOptions } from './containers/logs.ts';
export type { DefaultLimits } from './containers/resources.ts';
export type { BuiltinImage } from './images/builtin-images.ts';
export { type PodTiming, type Stage, type StageTimes, stages } from './pods/timings.ts';
export { type SweepOptions, type SweepReport, sweepHome } from './sweep.ts';
export { findSystemParts, type SystemPart } from './system-parts.ts';
