/** The functions Kubernetes gives to rules beyond the language's own. */
import type { Environment } from '@marcbachmann/cel-js';
import { registerAddresses } from './addresses.ts';
import { registerFormats } from './formats.ts';
import { registerLists } from './lists.ts';
import { registerQuantities } from './quantities.ts';
import { registerStrings } from './strings.ts';
import { registerUrls } from './urls.ts';

export function registerLibrary(env: Environment): Environment {
  registerStrings(env);
  registerLists(env);
  registerQuantities(env);
  registerAddresses(env);
  registerUrls(env);
  registerFormats(env);
  return env;
}
