/**
 * What controllers do, seen by a client. A case arranges something, waits until it is settled and returns what it
 * saw; what is right is what the same case sees on a real cluster, never a value someone believed.
 */
import type { Scene } from './scene.ts';

export interface ControllerCase {
  readonly name: string;
  /** Plain values only. Names of the scene are taken out by the runner. */
  readonly run: (scene: Scene) => Promise<unknown>;
}

export interface ControllerArea {
  readonly area: string;
  readonly cases: readonly ControllerCase[];
}

export type AddCase = (name: string, run: ControllerCase['run']) => void;

export function area(name: string, describe: (add: AddCase) => void): ControllerArea {
  const cases: ControllerCase[] = [];
  describe((caseName, run) => cases.push({ name: caseName, run }));
  return { area: name, cases };
}
