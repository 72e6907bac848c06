// The whole surface of @hutch/api/schemas. Loading it loads zod (some 100 ms): servers that only need the finished
// CRDs import @hutch/api/crds.
export { type Crd, sandboxCrd } from './crd.ts';
export { sandboxSchema, sandboxSpecSchema, sandboxStatusSchema } from './sandbox.ts';
