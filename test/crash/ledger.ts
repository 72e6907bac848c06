/**
 * What clients were told, and what must therefore be so. Pure: the suite feeds it and asks it for contradictions.
 *
 * Each object belongs to one writer with one request under way at a time. So after a crash an object is as the last
 * acknowledged write left it, or as the one write left it whose answer never came; nothing else is possible.
 */
export interface ObjectState {
  readonly revision: number;
  /** What the writer put in. */
  readonly value: number;
}

/** The state after a write: undefined when it deleted. */
type After = { readonly value: number } | undefined;

interface Line {
  /** As acknowledged; undefined when the object is not there. */
  known: ObjectState | undefined;
  /** Asked for, not answered. */
  pending: { readonly after: After } | undefined;
}

export interface Found extends ObjectState {
  readonly isWhole: boolean;
}

export class Ledger {
  readonly #lines = new Map<string, Line>();
  readonly #revisions = new Set<number>();
  readonly #contradictions: string[] = [];
  #highest = 0;
  #floor = 0;
  acknowledged = 0;
  refused = 0;

  /** The state to build on; undefined when the object is not there. */
  known(name: string): ObjectState | undefined {
    return this.#lines.get(name)?.known;
  }

  ask(name: string, after: After): void {
    this.#line(name).pending = { after };
  }

  /** A write was answered with success. `revision` is that of the change. */
  acknowledge(name: string, revision: number): void {
    const line = this.#line(name);
    const { pending } = line;
    if (!pending) throw new Error(`answer without a question for ${name}`);
    line.pending = undefined;
    line.known = pending.after && { ...pending.after, revision };
    this.acknowledged++;
    this.#used(name, revision);
  }

  /** A deletion was answered; the answer does not say its revision. */
  acknowledgeDeletion(name: string): void {
    const line = this.#line(name);
    line.pending = undefined;
    line.known = undefined;
    this.acknowledged++;
  }

  /** A write was refused: it has changed nothing. */
  refuse(name: string): void {
    this.#line(name).pending = undefined;
    this.refused++;
  }

  /** The server has been killed. No revision up to here may be given out again. */
  crash(): void {
    this.#floor = this.#highest;
  }

  /** Something else told of a revision, a list or an event. */
  noteRevision(revision: number): void {
    this.#highest = Math.max(this.#highest, revision);
  }

  /** Compares with all that is there now, and takes over what became of unanswered writes. */
  settle(found: ReadonlyMap<string, Found>, storeRevision: number): void {
    if (storeRevision < this.#floor)
      this.#contradict(`the store is at revision ${storeRevision}, but ${this.#floor} was seen before`);
    this.noteRevision(storeRevision);
    for (const [name, line] of this.#lines) this.#settleOne(name, line, found.get(name));
    for (const name of found.keys())
      if (!this.#lines.has(name)) this.#contradict(`${name} was never written`);
  }

  contradictions(): readonly string[] {
    return this.#contradictions;
  }

  #settleOne(name: string, line: Line, there: Found | undefined): void {
    const { known, pending } = line;
    line.pending = undefined;
    if (there && !there.isWhole) this.#contradict(`${name} is half written at revision ${there.revision}`);
    if (there?.revision === known?.revision && there?.value === known?.value) return;
    if (pending && there?.value === pending.after?.value) {
      line.known = there && { revision: there.revision, value: there.value };
      if (there) this.#used(name, there.revision);
      return;
    }
    const was = known ? `${known.value} at revision ${known.revision}` : 'absent';
    const is = there ? `${there.value} at revision ${there.revision}` : 'absent';
    this.#contradict(`${name} was acknowledged as ${was} and is ${is}`);
    line.known = there; // told once; what follows builds on what is
  }

  #used(name: string, revision: number): void {
    if (revision <= this.#floor)
      this.#contradict(`${name} was given revision ${revision} after ${this.#floor} was seen`);
    if (this.#revisions.has(revision))
      this.#contradict(`revision ${revision} was given twice, again to ${name}`);
    this.#revisions.add(revision);
    this.noteRevision(revision);
  }

  #line(name: string): Line {
    const line = this.#lines.get(name) ?? { known: undefined, pending: undefined };
    this.#lines.set(name, line);
    return line;
  }

  #contradict(text: string): void {
    this.#contradictions.push(text);
  }
}
