/** All cases, area by area. */
import type { Case } from '../harness/case.ts';
import { bodyCases } from './bodies.ts';
import { kindCases, podCases, reviewCases, serviceCases } from './builtin.ts';
import { definitionCases, ruleCases, schemaCases } from './crd.ts';
import { createCases } from './create.ts';
import { deleteCases, deleteCollectionCases, garbageCases, namespaceCases } from './delete.ts';
import { limitCases } from './limits.ts';
import { discoveryCases, outputCases } from './output.ts';
import { getCases, listCases } from './read.ts';
import { fieldCases, subresourceCases } from './subresources.ts';
import { watchCases } from './watch.ts';
import { dryRunCases, patchCases, updateCases } from './write.ts';

export const allCases: readonly Case[] = [
  ...discoveryCases,
  ...createCases,
  ...bodyCases,
  ...getCases,
  ...listCases,
  ...watchCases,
  ...updateCases,
  ...patchCases,
  ...dryRunCases,
  ...deleteCases,
  ...deleteCollectionCases,
  ...garbageCases,
  ...namespaceCases,
  ...subresourceCases,
  ...fieldCases,
  ...outputCases,
  ...definitionCases,
  ...schemaCases,
  ...ruleCases,
  ...podCases,
  ...serviceCases,
  ...kindCases,
  ...reviewCases,
  ...limitCases,
];
