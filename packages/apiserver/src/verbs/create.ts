/** What a create makes of a draft. Pure: the same draft, the same object (but for its uid). */
import { invalid } from '@hutch/kube-meta';
import type { AskedObject } from '../decode.ts';
import { omit } from '../json.ts';
import { type ApiObject, type Around, hasStatus, type Kind } from '../kinds/kind.ts';
import { metadataProblems, newMetadata } from '../metadata.ts';
import { scaleProblems } from './scale.ts';

export function createObject(
  draft: AskedObject,
  kind: Kind,
  { name, around }: { name: string; around: Around },
): ApiObject {
  // Status is not a client's to create where it has a door of its own.
  const wanted = hasStatus(kind) && !kind.createsStatus ? omit(draft, 'status') : draft;
  const metadata = newMetadata({ ...draft.metadata, name }, kind, around.now);
  const normalised = kind.normalise({ ...wanted, metadata });

  const prepared = kind.prepareCreate ? kind.prepareCreate(normalised, around) : normalised;

  const problems = [
    ...metadataProblems(prepared, kind, undefined),
    ...kind.validate(prepared, undefined),
    ...scaleProblems(prepared, kind),
  ];
  if (problems.length > 0) throw invalid(kind.resource, name, problems);
  return prepared;
}
