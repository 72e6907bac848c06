// The whole surface of @hutch/base. The list is closed: a new helper lives with its user first.
export { aborted, isAbortOf, pause, raceAbort, runTogether, type Task } from './abort.ts';
export { Backoff } from './backoff.ts';
export { Channel } from './channel.ts';
export { type Clock, systemClock } from './clock.ts';
export {
  Fault,
  type FaultCode,
  ignoring,
  isFault,
  isTerminal,
  messageOf,
  terminal,
  unreachable,
} from './fault.ts';
export { type Fields, jsonLog, type Log, type LogLevel, silentLog } from './log.ts';
