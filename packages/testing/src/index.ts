// The whole surface of @hutch/testing.
export {
  aNamespace,
  anObject,
  aPod,
  aSandbox,
  type PodCase,
  type SandboxCase,
  someMeta,
} from './builders.ts';
export { FakeClock } from './fake-clock.ts';
export { createFakeNode, type FakeNode, type FakeNodeOptions } from './fake-node.ts';
export { type HomeDoor, type MemoryHome, type MemoryHomeOptions, openMemoryHome } from './memory-home.ts';
