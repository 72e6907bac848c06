// The whole surface of @hutch/kube-client.
export type {
  CallOptions,
  ClientWatchEvent,
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchOptions,
  PatchType,
  ScopeOptions,
  Transport,
  WatchOptions,
  WriteOptions,
} from './client.ts';
