// The whole surface of @hutch/runtime-protocol. It loads anywhere: no node: imports.
export { encodeFrame, type Frame, FrameDecoder, framesContentType, maxFrameBytes } from './frames.ts';
export {
  detachedGraceMs,
  type OutputRead,
  type ProcessExited,
  type ProcessFailed,
  type ProcessStarted,
  processesPath,
  type RuntimeError,
  type SendSignal,
  type StartProcess,
  type StdinReceipt,
  type TerminalSize,
} from './processes.ts';

/** The port every injected runtime listens on. */
export const runtimePort = 8888;
