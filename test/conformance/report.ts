/** What the suite says about itself: the table of areas, and docs/api-conformance.md, which is made from the cases and the list of known differences. */
import { join } from 'node:path';
import { markdownTable } from '../../bench/stats.ts';
import { kubernetesVersion } from '../../rigs/kube/index.ts';
import type { Case } from './harness/case.ts';
import type { KnownDifference } from './harness/known.ts';

export interface AreaTotal {
  readonly cases: number;
  readonly differing: number;
}

export function areaTable(totals: ReadonlyMap<string, AreaTotal>): string {
  const sum = (pick: (one: AreaTotal) => number) =>
    [...totals.values()].reduce((all, one) => all + pick(one), 0);
  const all = { cases: sum(({ cases }) => cases), differing: sum(({ differing }) => differing) };
  const rows = [...totals, ['all', all] as const].map(([area, { cases, differing }]) => [
    area,
    String(cases),
    String(differing),
  ]);
  return markdownTable(['area', 'cases', 'differing'], rows);
}

export const documentFile = join(import.meta.dirname, '../../docs/api-conformance.md');

export function conformanceDocument(
  cases: readonly Case[],
  known: { readonly cases: readonly KnownDifference[]; readonly fuzz: readonly KnownDifference[] },
): string {
  const areas = Map.groupBy(cases, ({ area }) => area);
  const rows = [...areas].map(([area, all]) => [area, String(all.length)]);
  return `# How true our API server is to Kubernetes

One suite, two servers: each case of \`test/conformance\` sends the same requests to a real kube-apiserver ${kubernetesVersion}
with its controllers and to ours, through both of its doors, and compares what was answered: status, body, warnings
and watch events. Only what a server chooses freely is left out of the comparison (uids, revisions, times, generated
names, addresses), and managedFields, which come with server-side apply.

The real server's answers are kept in \`test/conformance/fixtures\`, so that the suite means something where the real
server cannot run; where it can, \`npm test\` asks it too and fails when the recorded answers are not its own any more.

\`\`\`
node test/conformance/main.ts --only 'patch:'      ask both servers, tell the differences
node test/conformance/main.ts --recorded           ask ours only, compare with the recorded answers
node test/conformance/main.ts --record             record the real server's answers anew
node test/conformance/main.ts --document           write this page anew
npm run soak -- api-fuzz                           random requests to both servers
\`\`\`

## Cases

${markdownTable(['area', 'cases'], [...rows, ['all', String(cases.length)]])}
## Known differences

${section(known.cases)}
In the differential fuzz these are accepted:

${section(known.fuzz)}`;
}

function section(known: readonly KnownDifference[]): string {
  if (known.length === 0) return 'None.\n';
  const code = (text: string) => `\`${text}\``;
  const rows = known.map((one) => [
    code(one.case),
    code(one.place ?? '*'),
    one.target ?? 'every door',
    one.reason,
  ]);
  return markdownTable(['case', 'where', 'on', 'why'], rows);
}
