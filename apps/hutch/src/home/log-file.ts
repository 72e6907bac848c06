/** The log of a home that nobody watches: a file that starts over when it is large, keeping the one before. */
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs';

const maxBytes = 16 << 20;

export class LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #fd: number | undefined;
  #bytes = 0;

  constructor(path: string, limit = maxBytes) {
    this.#path = path;
    this.#maxBytes = limit;
  }

  /** Never throws: a disk that is full for the log must not end the home. */
  readonly write = (line: string): void => {
    try {
      this.#write(line);
    } catch {
      this.#close();
    }
  };

  #write(line: string): void {
    if (this.#bytes > this.#maxBytes) {
      this.#close();
      renameSync(this.#path, `${this.#path}.1`);
    }
    if (this.#fd === undefined) {
      this.#fd = openSync(this.#path, 'a', 0o600);
      this.#bytes = statSync(this.#path).size;
    }
    this.#bytes += writeSync(this.#fd, line);
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#bytes = 0;
  }
}
