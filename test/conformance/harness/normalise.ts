/**
 * Makes the answers of two servers comparable: what a server chooses freely (uids, revisions, times, generated
 * names, addresses) becomes a token that keeps only which values are the same. Everything else stays as it is.
 */
import { at, isRecord, type JsonRecord } from './json.ts';

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\b(?:19|20)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z(?!\d)/g;
const tokenVolume = /\bkube-api-access-[a-z0-9]{5}\b/g;

/** Phrases with a revision in them. The number is dropped: how far a server has counted says nothing. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/(too old resource version: )\d+ \(\d+\)/gi, '$1<rv> (<rv>)'],
  [/(Too large resource version: \d+, current: )\d+/g, '$1<rv>'],
  [/(ResourceVersion in (?:the precondition|record) \()\d+/g, '$1<rv>'],
  // A refused patch is told with the whole object that came of it, in the order of fields of a Go type.
  [/(Invalid value: )"\{(?:[^"\\]|\\.)*\}"/g, '$1"<object>"'],
];

/** What a request repeats of an earlier answer. */
const requestPhrases: readonly (readonly [RegExp, string])[] = [
  [/\b(resourceVersion=)\d{2,}/g, '$1<rv>'],
  [/\b(continue=)eyJ[^&]{20,}/g, '$1<continue>'],
];

/** Answers differ in these without meaning anything by it. */
const droppedFields: ReadonlySet<string> = new Set([
  'managedFields', // server-side apply is part two
]);

/** Where a value stands, from its root. A root that speaks of the whole store is called `store`. */
type Place = readonly string[];

/** One for each run of a case: tokens are numbered in the order in which values appear. */
export class Normaliser {
  readonly #words: readonly (readonly [string, string])[];
  readonly #tokens = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #generated = new Map<string, string>();

  /** `words` are unique to one run of a case; each with what stands for it. */
  constructor(words: Readonly<Record<string, string>>) {
    this.#words = Object.entries(words).sort(([a], [b]) => b.length - a.length);
  }

  /** The body of an answer. */
  answer(body: unknown): unknown {
    const isList = isRecord(body) && (Array.isArray(body.items) || Array.isArray(body.rows));
    return this.#value(withSortedCauses(body), [isList ? 'store' : 'object']);
  }

  /** An event of a watch. */
  event(event: unknown): unknown {
    if (!isRecord(event)) return event;
    return {
      type: event.type,
      object: this.#value(event.object, [event.type === 'BOOKMARK' ? 'store' : 'object']),
    };
  }

  /** The line of a request. */
  request(line: string): string {
    return requestPhrases.reduce(
      (text, [phrase, replacement]) => text.replaceAll(phrase, replacement),
      this.text(line),
    );
  }

  /** A text with its free parts replaced. */
  text(text: string): string {
    let result = text;
    for (const [word, token] of this.#words) result = result.replaceAll(word, token);
    for (const [name, token] of this.#generated) result = result.replaceAll(name, token);
    for (const [phrase, replacement] of phrases) result = result.replaceAll(phrase, replacement);
    return result
      .replaceAll(uuid, (found) => this.#token('uid', found))
      .replaceAll(time, (_, fraction?: string) => (fraction ? '<micro time>' : '<time>'))
      .replaceAll(tokenVolume, (found) => this.#token('kube-api-access', found));
  }

  /** Keys are visited in their alphabetical order, so that the order a server writes them in names no token. */
  #value(value: unknown, place: Place): unknown {
    if (typeof value === 'string') return this.#string(value, place);
    if (typeof value === 'number') return this.#number(value, place);
    if (Array.isArray(value)) return value.map((item, index) => this.#value(item, [...place, String(index)]));
    if (!isRecord(value)) return value;
    this.#noteGeneratedName(value);
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value).sort()) {
      if (droppedFields.has(key) && place.at(-1) === 'metadata') continue;
      if (value[key] === undefined) continue; // in process; a wire would not carry it
      result[this.text(key)] = this.#value(value[key], [...place, key]);
    }
    return result;
  }

  #string(value: string, place: Place): string {
    const [parent, key] = place.slice(-2);
    if (parent === 'metadata' && key === 'resourceVersion') return this.#revision(value, place);
    if (parent === 'metadata' && key === 'continue') return value === '' ? '' : '<continue>';
    if (key === 'clusterIP' || parent === 'clusterIPs') return this.#address(value);
    return this.text(value);
  }

  /** The store's revision may or may not be some object's too: that depends on who else writes. */
  #revision(value: string, place: Place): string {
    if (!/^[1-9]\d*$/.test(value)) return value;
    return place.length === 3 && place[0] === 'store' ? '<store rv>' : this.#token('rv', value);
  }

  #number(value: number, place: Place): number | string {
    const isPort = place.at(-1) === 'nodePort' || place.at(-1) === 'healthCheckNodePort';
    return isPort && value !== 0 ? this.#token('node port', String(value)) : value;
  }

  #address(value: string): string {
    return /^\d+\.\d+\.\d+\.\d+$/.test(value) ? this.#token('address', value) : this.text(value);
  }

  #token(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#tokens.get(key);
    if (known) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const token = `<${kind} ${count}>`;
    this.#tokens.set(key, token);
    return token;
  }

  #noteGeneratedName({ metadata }: Readonly<Record<string, unknown>>): void {
    if (!isRecord(metadata)) return;
    const { name, generateName } = metadata;
    if (typeof name !== 'string' || typeof generateName !== 'string' || this.#generated.has(name)) return;
    if (!name.startsWith(generateName.slice(0, 58)) || name === generateName) return;
    this.#generated.set(name, `${this.text(generateName)}<generated ${this.#generated.size + 1}>`);
  }
}

/** Go visits the properties of a schema in any order, and tells what is wrong with them in that order. */
function withSortedCauses(body: unknown): unknown {
  const causes = at(body, 'details', 'causes');
  if (!isRecord(body) || !Array.isArray(causes) || causes.length < 2) return body;
  const text = (cause: unknown) => `${String(at(cause, 'field'))}: ${String(at(cause, 'message'))}`;
  const listed = (all: readonly unknown[]) => `[${all.map(text).join(', ')}]`;
  const sorted = causes.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
  const message = String(body.message).replace(listed(causes), () => listed(sorted));
  return { ...body, message, details: { ...(body.details as JsonRecord), causes: sorted } };
}
