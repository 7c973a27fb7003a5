import type { NetworkChecks } from '@sheaf/ports';
import { checkGrpc } from './grpc-check.ts';
import { checkHttp } from './http-check.ts';
import { checkTcp } from './tcp-check.ts';

/** Checks through the network of this host, each on a connection of its own. */
export const networkChecks: NetworkChecks = { http: checkHttp, tcp: checkTcp, grpc: checkGrpc };
