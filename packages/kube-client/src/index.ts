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
export { inProcess } from './in-process.ts';
export { type HttpOptions, type HttpTransport, overHttp } from './over-http.ts';
export { createKubeClient } from './verbs.ts';
