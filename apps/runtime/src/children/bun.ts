/** The few parts of Bun used beyond `node:` modules; the only file that touches its global. */

interface BunFile {
  stream(): ReadableStream<Uint8Array>;
  writer(): BunFileSink;
}

interface BunFileSink {
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  end(): number | Promise<number>;
}

export interface BunTerminal {
  /** Takes every byte; `drain` is called once all are through. */
  write(bytes: Uint8Array): number;
  resize(columns: number, rows: number): void;
  close(): void;
}

export interface BunSubprocess {
  readonly pid: number;
  readonly terminal: BunTerminal;
}

interface BunSpawnOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly argv0: string;
  readonly terminal: {
    readonly cols: number;
    readonly rows: number;
    data(terminal: BunTerminal, bytes: Uint8Array): void;
    drain(): void;
    exit(): void;
  };
  onExit(subprocess: BunSubprocess, exitCode: number | null, signal: number | string | null): void;
}

export interface BunApi {
  file(fd: number): BunFile;
  gc(isSynchronous: boolean): void;
  spawn(command: readonly string[], options: BunSpawnOptions): BunSubprocess;
}

/** Undefined on Node. */
export function bunApi(): BunApi | undefined {
  return (globalThis as { Bun?: BunApi }).Bun;
}
