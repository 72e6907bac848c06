/** Where our server answers otherwise than the real one, and why. docs/api-conformance.md is made from these lists. */
import type { KnownDifference } from './harness/known.ts';

export const knownDifferences: readonly KnownDifference[] = [];

export const knownInFuzz: readonly KnownDifference[] = [];
