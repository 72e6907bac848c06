// The executable. Everything it can do is in cli/program.ts.
import { runProgram } from './cli/program.ts';

runProgram(process.argv.slice(2), process.env).then(
  // Not `process.exitCode`: a terminal left open as stdin would keep the program alive.
  (exitCode) => process.exit(exitCode),
  (err) => {
    throw err;
  },
);
