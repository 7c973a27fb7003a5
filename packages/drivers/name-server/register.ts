import type { NameServer } from '@sheaf/ports';
import { LoopbackNameServer, type NameServerOptions } from './loopback-name-server.ts';

export function openNameServer(options: NameServerOptions): NameServer {
  return new LoopbackNameServer(options);
}
