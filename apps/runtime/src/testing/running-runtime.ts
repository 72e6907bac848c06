/** A runtime under test, wherever it runs. */
export interface RunningRuntime extends AsyncDisposable {
  readonly port: number;
  /** Its largest resident size so far, where it is a process of its own. */
  peakBytes?(): number;
}
