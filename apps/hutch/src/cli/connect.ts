/** The running home, or a sentence that says how to get one. */
import { Fault } from '@hutch/base';
import { Hutch } from '@hutch/sdk';
import type { DataDir } from '../home/data-dir.ts';
import { readEndpoint } from '../home/endpoint.ts';
import { httpFetch } from './http-fetch.ts';

export function connect(dataDir: DataDir): Hutch {
  const endpoint = readEndpoint(dataDir);
  if (!endpoint) {
    throw new Fault('unavailable', `no home is running in ${dataDir.root}; start one with: hutch up -d`);
  }
  return new Hutch({ url: endpoint.router, token: endpoint.token, fetch: httpFetch });
}
