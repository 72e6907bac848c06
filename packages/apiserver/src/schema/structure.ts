/**
 * The structure of built-in types: which members they have, of which type, and how an empty one is written.
 *
 * The data is generated (`structures/*.gen.ts`, by tools/generate/builtin-schemas.ts) from what Kubernetes
 * publishes. Types refer to each other by name, so recursive ones are no special case.
 */
export interface Member {
  /**
   * A scalar (`string`, `bool`, `int32`, `int64`, `double`, `bytes`, `time`, `micro-time`, `quantity`,
   * `int-or-string`, `json`, …) or the name of a type such as `core.v1.Container`; a list of it after `[]`, a map
   * to it after `{}`.
   */
  readonly type: string;
  /** The Go name of the type where it is not the scalar's own: messages about wrong types tell it. */
  readonly go?: string;
  /** The embedded Go struct it belongs to: messages about wrong types tell that too. */
  readonly via?: string;
  /** Absent and empty are two different things. */
  readonly pointer?: true;
  /** Written although it is empty. */
  readonly keep?: true;
  /** Not written when it is absent, although it is a struct: those are written even when empty otherwise. */
  readonly omitZero?: true;
  readonly required?: true;
  readonly default?: unknown;
  readonly list?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
  readonly map?: 'atomic' | 'granular';
  /** How a strategic merge patch treats it. */
  readonly patch?: string;
  readonly patchKey?: string;
}

export interface StructType {
  readonly members: Readonly<Record<string, Member>>;
  /** A struct that is written whole or not at all by server-side apply. */
  readonly map?: 'atomic' | 'granular';
}

/** By the name of the type. */
export type Structures = Readonly<Record<string, StructType>>;
