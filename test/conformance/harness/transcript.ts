/** What happened in a case, step by step, normalised: two servers are alike when their transcripts are. */
export type Step =
  | { readonly step: string; readonly status: number; readonly headers?: object; readonly body?: unknown }
  | { readonly step: string; readonly events: readonly unknown[] }
  | { readonly step: string; readonly fact: unknown };

export type Transcript = readonly Step[];
