// The whole surface of @hutch/sdk. It loads anywhere: no node: imports.
export {
  type CommandLine,
  CommandNotStarted,
  type CommandOptions,
  type CommandResult,
  type Commands,
  type RunOptions,
  type StartOptions,
} from './commands.ts';
export { type Answer, type BodyReader, type Fetch, type FetchInit, Refused } from './http.ts';
export { Hutch, type HutchOptions } from './hutch.ts';
export type { Limits } from './limits.ts';
export type { OutputChunk } from './process-output.ts';
export { SandboxFailed } from './readiness.ts';
export type { InputSource, RunningCommand } from './running-command.ts';
export type { Sandbox } from './sandbox.ts';
export type { SandboxObject, TokenProvider } from './sandbox-api.ts';
export type { CreateLimits, CreateOptions, InNamespace, Sandboxes, Stage } from './sandboxes.ts';
