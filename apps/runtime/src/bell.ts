/** Wakes everyone who is waiting. Check the condition first: a ring that nobody waits for is forgotten. */
export class Bell {
  #waiting = Promise.withResolvers<void>();

  get next(): Promise<void> {
    return this.#waiting.promise;
  }

  ring(): void {
    const { resolve } = this.#waiting;
    this.#waiting = Promise.withResolvers<void>();
    resolve();
  }
}
