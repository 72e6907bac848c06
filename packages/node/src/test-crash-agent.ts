/** Run by a test as a process of its own: starts three pods and dies without warning. */
import { silentLog, systemClock } from '@hutch/base';
import { createNodeAgent } from './agent.ts';
import { FakeApi } from './fake-api.ts';
import { aContainer } from './test-objects.ts';

const [dataDir = '', imageDir = '', dieAfterMs = '0'] = process.argv.slice(2);
const api = new FakeApi();
for (const name of ['a', 'b', 'c']) api.addPod(name, { containers: [aContainer()] });
const agent = createNodeAgent({
  client: api,
  nodeName: 'node',
  dataDir,
  imageDir,
  images: { 'hutch.internal/host': { type: 'host' } },
  clock: systemClock,
  log: silentLog,
});
setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(dieAfterMs));
await agent.run(new AbortController().signal);
