import type { ControllerArea } from './case.ts';
import { defaults } from './defaults.case.ts';
import { disruption } from './disruption.case.ts';
import { slices } from './endpoint-slices.case.ts';
import { garbageCollection } from './garbage-collection.case.ts';
import { podBinding } from './pod-binding.case.ts';
import { roleAggregation } from './role-aggregation.case.ts';
import { volumes } from './volumes.case.ts';

export const areas: readonly ControllerArea[] = [
  defaults,
  garbageCollection,
  slices,
  volumes,
  podBinding,
  disruption,
  roleAggregation,
];
