import { compiledRuntime, spawnThroughLoader, startCompiled } from './testing/compiled.ts';
import { describeProtocol } from './testing/protocol-suite.ts';

describeProtocol('the compiled runtime', async () => {
  const runtime = await compiledRuntime();
  return startCompiled((args) => spawnThroughLoader(runtime, args));
});
