/** `npm run soak -- NAME [ROUNDS]`: what takes too long for `npm test`. The last results are in docs/soak.md. */
const soaks: Readonly<Record<string, () => Promise<{ soak(args: readonly string[]): Promise<void> }>>> = {
  'killed-runs': () => import('./killed-runs.ts'),
};

const [name, ...args] = process.argv.slice(2);
const load = soaks[name ?? ''];
if (!load) {
  process.stderr.write(`which soak? npm run soak -- NAME, one of: ${Object.keys(soaks).join(', ')}\n`);
  process.exit(2);
}
await (await load()).soak(args);
