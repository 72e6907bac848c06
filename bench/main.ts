/** `npm run bench -- NAME`: measures, prints a table, compares within one run. */
const benches: Readonly<Record<string, () => Promise<{ bench(args: readonly string[]): Promise<void> }>>> = {
  api: () => import('./api.ts'),
  run: () => import('./run.ts'),
};

const [name, ...args] = process.argv.slice(2);
const load = benches[name ?? ''];
if (!load) {
  process.stderr.write(
    `which benchmark? npm run bench -- NAME, one of: ${Object.keys(benches).join(', ')}\n`,
  );
  process.exit(2);
}
await (await load()).bench(args);
