// The whole surface of @hutch/api. It loads anywhere: no node: imports, and no schema library
// (the schemas live behind @hutch/api/schemas).
export {
  sandboxHeaders,
  type TokenGrant,
  type TokenRequest,
  tokenExchangePath,
  tokenHeader,
} from './access.ts';
export {
  hostImage,
  hutchPrefix,
  injectedRuntimePort,
  runtimeAnnotation,
  runtimeCommand,
  runtimeImage,
  runtimeMountPath,
} from './runtime.ts';
