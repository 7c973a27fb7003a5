import { availableParallelism, hostname, machine, networkInterfaces, totalmem } from 'node:os';
import type { Host } from '@sheaf/ports';
import { ProcHost } from './proc-host.ts';

/** The host that this process runs on. `dataDir` is where everything is kept. */
export function openHost(dataDir: string): Host {
  return new ProcHost({
    dataDir,
    roots: { proc: '/proc', etc: '/etc', sys: '/sys' },
    runtime: {
      platform: process.platform,
      hostname,
      machine,
      cpuCount: availableParallelism,
      totalMemory: totalmem,
      memoryLimit: () => process.constrainedMemory(),
      availableMemory: () => process.availableMemory(),
      interfaces: networkInterfaces,
    },
  });
}
