// The whole surface of @hutch/routing.
export type { ApiDoor } from './api-pass-through.ts';
export { createKeyring, type Keyring, type KeyringDeps, keysSecret } from './keyring.ts';
export { createReviews, type Review, type Reviews, type ReviewsDeps } from './reviews.ts';
export {
  type RoutableSandbox,
  type Route,
  type Routes,
  routeTable,
  type SandboxCache,
} from './route-table.ts';
export { createRouter, type Router, type RouterDeps } from './router.ts';
export { type RouterServer, type ServeRouterOptions, serveRouter } from './server.ts';
export { openUpstreams, type UpstreamOptions, type Upstreams } from './upstreams.ts';
