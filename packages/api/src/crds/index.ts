// The whole surface of @hutch/api/crds: our CustomResourceDefinitions as plain values, made from the schemas by
// tools/generate/crds.ts. Loads nothing else.
import type { Crd } from '../schemas/crd.ts';
import { sandboxCrd } from './sandbox.gen.ts';

/** What a home registers before its controllers start. */
export const crds: readonly Crd[] = [sandboxCrd];
