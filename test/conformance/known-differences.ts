/** Where our server answers otherwise than the real one, and why. docs/api-conformance.md is made from these lists. */
import type { KnownDifference } from './harness/known.ts';

const withoutCopies =
  'in process, objects are handed over as they are stored: only the wire leaves kind and apiVersion out of items';
const estimates =
  'a rule is stopped when it runs for too long, instead of being refused by an estimate of what it may cost';
const parserWords = 'what the parser of rules says about a text it cannot read is in its own words';

export const knownDifferences: readonly KnownDifference[] = [
  { case: '*', place: 'body.items[*].apiVersion', target: 'ours in process', reason: withoutCopies },
  { case: '*', place: 'body.items[*].kind', target: 'ours in process', reason: withoutCopies },
  { case: 'bodies: YAML is understood', reason: 'bodies are JSON; YAML comes with server-side apply' },
  { case: 'rules: a rule that costs too much', reason: estimates },
  { case: 'rules: a rule that uses oldSelf in a list that cannot be matched', reason: estimates },
  {
    case: 'definitions: several versions of one kind',
    place: 'body.spec.b',
    reason:
      'a field that only one version knows is shown in the answer to its creation; the real server drops it',
  },
  {
    case: 'services: the slices of a service',
    place: 'fact.*',
    target: 'ours in process',
    reason: withoutCopies,
  },
  { case: 'rules: a rule that has a message expression that does not parse', reason: parserWords },
  {
    case: 'namespaces: a namespace gets its account and its authority',
    place: 'body.metadata.annotations.kubernetes.io/description',
    reason: 'a text for people, in our own words',
  },
  {
    case: 'kinds: a node with its defaults',
    place: 'body.spec.taints',
    reason: 'a new node is not tainted as not ready: no controller of the home would take the taint away',
  },
];

export const knownInFuzz: readonly KnownDifference[] = [
  { case: '*', place: 'body.items[*].apiVersion', reason: withoutCopies },
  { case: '*', place: 'body.items[*].kind', reason: withoutCopies },
];
