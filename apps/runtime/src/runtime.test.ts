import { silentLog } from '@hutch/base';
import { Launcher } from './children/launcher.ts';
import { listen, runtimeServer } from './http/server.ts';
import { ProcessTable } from './processes/process-table.ts';
import { describeProtocol } from './testing/protocol-suite.ts';

describeProtocol('the runtime on Node', async () => {
  const server = runtimeServer(new ProcessTable(new Launcher(), process.env), silentLog);
  const port = await listen(server, { port: 0, host: '127.0.0.1' });
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
});
