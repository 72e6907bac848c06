/** What a create makes of a draft. Pure: the same draft, the same object (but for its uid). */
import { invalid } from '@hutch/kube-meta';
import type { AskedObject } from '../decode.ts';
import { omit } from '../json.ts';
import { type ApiObject, hasStatus, type Kind } from '../kinds/kind.ts';
import { metadataProblems, newMetadata } from '../metadata.ts';

export function createObject(
  draft: AskedObject,
  kind: Kind,
  { name, now }: { name: string; now: Date },
): ApiObject {
  // Status is not a client's to create where it has a door of its own.
  const wanted = hasStatus(kind) ? omit(draft, 'status') : draft;
  const metadata = newMetadata({ ...draft.metadata, name }, kind, now);
  const normalised = kind.normalise({ ...wanted, metadata });

  const problems = [
    ...metadataProblems(normalised, kind, undefined),
    ...kind.validate(normalised, undefined),
  ];
  if (problems.length > 0) throw invalid(kind.resource, name, problems);
  return kind.prepareCreate ? kind.prepareCreate(normalised, now) : normalised;
}
