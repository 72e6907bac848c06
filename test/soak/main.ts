/** `npm run soak -- NAME`: runs that take too long for `npm test`. The last results stand in docs/soak.md. */
export interface Soak {
  soak(args: readonly string[], signal: AbortSignal): Promise<void>;
}

const soaks: Readonly<Record<string, () => Promise<Soak>>> = {
  'api-fuzz': () => import('./api-fuzz.ts'),
  churn: () => import('./churn.ts'),
  crash: () => import('./crash.ts'),
  'killed-runs': () => import('./killed-runs.ts'),
};

const [name, ...args] = process.argv.slice(2);
const load = soaks[name ?? ''];
if (!load) {
  process.stderr.write(`which run? npm run soak -- NAME, one of: ${Object.keys(soaks).join(', ')}\n`);
  process.exit(2);
}
const stop = new AbortController();
for (const word of ['SIGINT', 'SIGTERM'] as const) process.once(word, () => stop.abort(new Error(word)));
await (await load()).soak(args, stop.signal);
