/** A case is written once and runs on every target. What it expects is what the real server answers. */
import type { Scene } from './scene.ts';
import type { Ability } from './target.ts';

export interface CaseOptions {
  /** What the target must be able to do. A door without it leaves the case out. */
  readonly needs?: Ability;
  /** Made before the case begins and taken away after it; `none` when the case is about the cluster's scope. */
  readonly namespace?: 'plain' | 'with-accounts' | 'none';
}

export interface Case extends Required<Pick<CaseOptions, 'namespace'>> {
  readonly area: string;
  readonly name: string;
  readonly needs: Ability | undefined;
  readonly run: (scene: Scene) => Promise<void>;
}

export type Add = (name: string, run: (scene: Scene) => Promise<void>, options?: CaseOptions) => void;

/** Collects the cases of one area. `defaults` hold for all of them. */
export function area(
  name: string,
  describe: (add: Add) => void,
  defaults: CaseOptions = {},
): readonly Case[] {
  const cases: Case[] = [];
  describe((caseName, run, options = {}) => {
    const { needs, namespace = 'plain' } = { ...defaults, ...options };
    if (cases.some((known) => known.name === caseName)) throw new Error(`two cases are called ${caseName}`);
    cases.push({ area: name, name: caseName, run, needs, namespace });
  });
  return cases;
}
